"""facesat.ray without its job: FaceDetector for ray.data, and how inputs are listed and read."""

import json
import subprocess
import sys

import facesat
import numpy as np
import pytest
from pictures import FACES

pytest.importorskip("ray", reason="needs Ray: pip install 'facesat[ray]'")

import facesat.ray  # noqa: E402
import fsspec  # noqa: E402
import pandas as pd  # noqa: E402
import pyarrow as pa  # noqa: E402
import ray  # noqa: E402
from facesat.ray import _options, _output, _shards, _storage, _work  # noqa: E402
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402
from fsspec.registry import _registry  # noqa: E402
from ray_cluster import write_picture  # noqa: E402


def run_python(program):
    return subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)


def test_facesat_alone_does_not_load_ray():
    assert run_python("import facesat, sys; assert not {'ray', 'pyarrow', 'fsspec'} & set(sys.modules)").returncode == 0


def test_a_missing_ray_is_explained():
    done = run_python("import sys; sys.modules['ray'] = None; import facesat.ray")
    assert "ImportError: facesat.ray needs Ray (pip install 'facesat[ray]')" in done.stderr


@pytest.fixture
def files(tmp_path):
    """Paths of a picture, one without faces, and what is none."""
    write_picture(tmp_path / "faces.pgm", FACES)
    write_picture(tmp_path / "empty.pgm", np.zeros((40, 50), np.uint8))
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8 this is no picture")
    return [str(tmp_path / name) for name in ("faces.pgm", "empty.pgm", "broken.jpg", "none.png")]


def check(rows):
    found = facesat.Detector(backend="cpu")(FACES)
    expected = [face._asdict() for face in sorted(found, key=lambda face: (face.y, face.x, face.width, face.height))]
    assert len(expected) > 1
    assert [row["faces"] for row in rows] == [expected, [], None, None]
    assert [(row["width"], row["height"]) for row in rows] == [(430, 130), (50, 40), (None, None), (None, None)]
    assert [row["error"] and row["error"]["kind"] for row in rows] == [None, None, "decode", "read"]
    assert rows[3]["error"]["message"] == "no such file or folder"


def batches_of(columns):
    """The same batch in each of Ray's formats."""
    arrays = {}
    for name, values in columns.items():
        arrays[name] = np.empty(len(values), object)
        arrays[name][:] = values
    return [arrays, pd.DataFrame(columns), pa.table(columns)]


def test_a_batch_of_paths_has_a_row_for_each(files):
    detector = facesat.ray.FaceDetector(backend="cpu")
    for batch in batches_of({"path": files, "id": [4, 3, 2, 1]}):
        table = detector(batch)
        check(table.to_pylist())
        assert table.column_names[:2] == ["path", "id"] and table["id"].to_pylist() == [4, 3, 2, 1]
        assert table["path"].to_pylist() == files
    with_tensors = detector({"path": np.array(files), "embedding": np.arange(8.0).reshape(4, 2)})
    assert list(with_tensors["embedding"].to_pylist()[3]) == [6, 7]


def test_a_batch_of_bytes_loses_them(files):
    contents = [open(file, "rb").read() for file in files[:3]] + [None]
    detector = facesat.ray.FaceDetector(backend="cpu", threads=2, bytes_column="data")
    for batch in batches_of({"data": contents}):
        rows = detector(batch).to_pylist()
        assert rows[3]["error"]["message"] == "bytes are needed here, not NoneType"
        rows[3]["error"]["message"] = "no such file or folder"
        check(rows)
        assert "data" not in rows[0]


def test_rows_keep_their_types_where_nothing_is_found(files):
    detector = facesat.ray.FaceDetector(backend="cpu")
    some, none = detector(pa.table({"path": files[:1]})), detector(pa.table({"path": files[1:2]}))
    assert some.schema.equals(none.schema)
    assert len(detector(pa.table({"path": pa.array([], pa.string())}))) == 0


def test_uris_that_cannot_be_read_are_errors():
    (row,) = facesat.ray.FaceDetector(backend="cpu")({"path": np.array(["nosuch://a/b.jpg"])}).to_pylist()
    assert row["error"]["kind"] == "read" and "nosuch" in row["error"]["message"]
    (row,) = facesat.ray.FaceDetector(backend="cpu")({"path": np.array([3], object)}).to_pylist()
    assert row["error"]["message"] == "a path is needed here, not int"


def test_wrong_arguments_are_named(files):
    with pytest.raises(facesat.ArgumentError, match="threads"):
        facesat.ray.FaceDetector(backend="cpu", threads=0)
    with pytest.raises(facesat.ArgumentError, match="max_pixels"):
        facesat.ray.FaceDetector(backend="cpu", max_pixels=0)
    with pytest.raises(facesat.ArgumentError, match='no column "bytes" or "path", only: file'):
        facesat.ray.FaceDetector(backend="cpu")({"file": np.array(files)})


def test_map_batches_finds_the_faces(files):
    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        found = ray.data.from_items([{"path": file, "at": i} for i, file in enumerate(files)]).map_batches(
            facesat.ray.FaceDetector, concurrency=2, num_cpus=1, batch_size=2, fn_constructor_kwargs={"backend": "auto"}
        )
        check(sorted(found.take_all(), key=lambda row: row["at"]))
        contents = ray.data.read_binary_files(files[:3], include_paths=True)
        found = contents.map_batches(facesat.ray.FaceDetector, concurrency=1, batch_format="pyarrow")
        rows = {row["path"].rsplit("/", 1)[-1]: row for row in found.take_all()}
        assert len(rows["faces.pgm"]["faces"]) > 1 and rows["broken.jpg"]["error"]["kind"] == "decode"
        assert "bytes" not in rows["faces.pgm"]
    finally:
        ray.shutdown()


def test_inputs_are_listed_while_work_proceeds(tmp_path):
    for name in ("a/1.pgm", "a/2.pgm", "b/3.pgm"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_picture(tmp_path / name, FACES[:20, :20])
    shards = _shards.make_shards(_shards.list_inputs([str(tmp_path)], recursive=True, at_once=1), 2)
    first = next(shards)
    (tmp_path / "b" / "4.pgm").write_bytes(b"")  # this folder has not been read yet
    assert [one[0] for one in first.inputs] == [b"a/1.pgm", b"a/2.pgm"]
    assert [[one[0] for one in shard.inputs] for shard in shards] == [[b"b/3.pgm", b"b/4.pgm"]]


def test_a_shard_is_known_by_its_inputs(tmp_path):
    def digests(size=2):
        inputs = _shards.list_inputs([str(tmp_path)], recursive=False)
        return [shard.digest for shard in _shards.make_shards(inputs, size)]

    for name in "abcd":
        (tmp_path / f"{name}.jpg").write_bytes(b"1")
    before = digests()
    assert len(set(before)) == 2 and digests() == before
    (tmp_path / "d.jpg").write_bytes(b"22")
    assert digests()[0] == before[0] and digests()[1] != before[1]
    assert len(digests(100)) == 1


def test_a_shard_is_known_by_its_options():
    def digest(*options):
        manifest = _options.parse(["a.jpg", "-o", "/out", *options]).manifest()
        (shard,) = _shards.make_shards(iter([(b"a.jpg", "path", b"/a.jpg", "1")]), 10, manifest)
        return shard.digest

    assert digest() == digest("--num-cpus", "3") == digest("--retries", "1") == digest("-q")
    options = [
        "--cascade=eye", "--scale-factor=1.2", "--min-neighbors=2", "--raw", "--min-size=30", "--max-size=90",
        "--scan=dense", "--equalize", "--luma", "--max-pixels=9", "--max-seconds=9",
    ]  # fmt: skip
    assert len({digest(), *map(digest, options)}) == 1 + len(options)


def test_the_first_shards_are_smaller():
    inputs = ((b"%d" % i, "failure", b"", "") for i in range(1000))
    sizes = [len(shard.inputs) for shard in _shards.make_shards(inputs, 120)]
    assert sizes[:4] == [25, 50, 100, 120] and sum(sizes) == 1000


def test_records_are_counted_whatever_their_names():
    names = ['"error":{', '"neighbors":', "a\nb\r\u2028", '"warning":"', "\\"]
    with_error = json.dumps({"image": names[0], "error": {"kind": "read", "message": '"neighbors":'}})
    lines = [json.dumps({"image": name, "width": 1, "height": 1, "faces": []}) for name in names] + [with_error]
    counts = _work.count_part("".join(line.replace(": ", ":") + "\n" for line in lines).encode(), "jsonl")
    assert (counts.records, counts.faces, counts.failures, counts.warnings) == (6, 0, {"read": 1}, 0)
    assert _work.count_part(b'{"image":"a', "jsonl") is None and _work.count_part(b"PAR1", "parquet") is None


def test_contents_keep_their_order_and_are_tried_again(monkeypatch):
    attempts = []

    class Store:
        def cat_file(self, path):
            attempts.append(path)
            if path == "gone":
                raise FileNotFoundError(path)
            if path == "refused" or attempts.count(path) < 2:
                raise OSError(f"{path} is out of order")
            return path.encode()

    monkeypatch.setattr(_storage, "open_uri", lambda uri: (Store(), uri.split("//")[1]))
    monkeypatch.setattr(_storage.time, "sleep", lambda seconds: None)
    names = [f"p{i}" for i in range(100)] + ["gone", "refused"]
    inputs = [(name.encode(), "uri", f"x://{name}".encode()) for name in names] + [(b"local", "path", b"/a")]
    found = list(_storage.with_contents(inputs))
    assert found[:100] == [(name.encode(), "bytes", name.encode()) for name in names[:100]]
    assert found[100:] == [
        (b"gone", "failure", b"no such file or folder"),
        (b"refused", "failure", b"refused is out of order"),
        (b"local", "path", b"/a"),
    ]
    assert attempts.count("gone") == 1 and attempts.count("refused") == 3


@pytest.fixture
def memory():
    """The folder of a job in fsspec's memory, and what is in it."""
    fs = fsspec.filesystem("memory")
    yield _output.output_of("memory://results", b"manifest"), fs
    fs.rm("/results", recursive=True)


def test_results_are_put_into_object_stores_under_their_names(memory, monkeypatch):
    output, fs = memory
    renamed = []
    monkeypatch.setattr(MemoryFileSystem, "mv", lambda self, *names, **options: renamed.append(names))
    output.prepare()
    assert output.names() == [] and output.temporaries() == []
    output.commit("part", b"1")
    output.commit("part", b"22")
    assert output.names() == ["part"] and output.read("part") == b"22" and not renamed
    for name in (
        ".rsync.tmp",
        _output._Temporaries(b"other").name("part"),
        _output._Temporaries(b"manifest").name("part"),
    ):
        fs.pipe_file(f"/results/{name}", b"")
    assert len(output.temporaries()) == 1
    for name in output.temporaries():
        output.remove(name)
    output.remove("nothing")
    assert output.temporaries() == [] and len(output.names()) == 3


class WithoutMove(MemoryFileSystem):
    """Moves as fsspec does where a store cannot: copies and deletes, and is interrupted."""

    protocol = "nomove"
    store, pseudo_dirs = {}, [""]

    def cp_file(self, path1, path2, **options):
        self.pipe_file(path2, self.cat_file(path1)[:1])
        raise KeyboardInterrupt


class WithMove(MemoryFileSystem):
    """Moves at once, but not to a name that exists, as HDFS does."""

    protocol = "hdfs"
    store, pseudo_dirs = {}, [""]

    @classmethod
    def _strip_protocol(cls, path):
        return "/" + path.removeprefix("hdfs://").strip("/")

    def mv(self, path1, path2, **options):
        if self.exists(path2):
            raise FileExistsError(path2)
        self.store[self._strip_protocol(path2)] = self.store.pop(self._strip_protocol(path1))


@pytest.fixture
def stores(monkeypatch):
    for store in (WithoutMove, WithMove):
        monkeypatch.setitem(_registry, store.protocol, store)
    _storage._file_system.cache_clear()
    yield
    _storage._file_system.cache_clear()


@pytest.mark.parametrize(
    "uri", ["nomove://a/out", "ftp://host/out", "https://host/out", "github://a:b@c/out", "nosuch://a"]
)
def test_stores_where_a_file_may_be_there_in_part_are_refused(uri, stores):
    with pytest.raises(facesat.ArgumentError, match="cannot take results: [a-z]+:// is not known .* name a folder, or"):
        _output.output_of(uri, b"manifest")
    assert not WithoutMove.store


def test_results_are_renamed_where_that_is_atomic(stores):
    output = _output.output_of("hdfs://node/results", b"manifest")
    output.prepare()
    output.commit("part", b"records")
    output.commit("part", b"records")  # as by a worker that was taken for dead
    assert output.names() == ["part"] and output.read("part") == b"records"
    with pytest.raises(_output.OutputError, match="hdfs://node/results/part: "):
        output.commit("part", b"others")
    assert output.names() == ["part"] and output.read("part") == b"records"
