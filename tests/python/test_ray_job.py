"""python -m facesat.ray, on a cluster of three nodes: its records are those of `facesat detect`, whatever is killed."""

import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time

import facesat
import numpy as np
import pytest
from pictures import FACES

pytest.importorskip("ray", reason="needs Ray: pip install 'facesat[ray]'")
pytest.importorskip("moto", reason="needs moto: pip install 'moto[server,s3]' s3fs")

import pyarrow.parquet as pq  # noqa: E402
from facesat.ray import _job, _options, _output, _shards  # noqa: E402
from ray_cluster import (  # noqa: E402
    MANIFEST,
    Job,
    ThreeNodes,
    kill_in_the_middle,
    lost_and_doubled,
    make_pictures,
    parts,
    records,
    run_job,
    run_program,
    write_picture,
)


@pytest.fixture(scope="module")
def bucket():
    """The URI of a bucket on a server of moto's, which gives two names at a time."""
    from moto.server import ThreadedMotoServer

    environment = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "MOTO_S3_DEFAULT_MAX_KEYS": "2",
    }
    os.environ.update(environment)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    os.environ["AWS_ENDPOINT_URL"] = "http://{}:{}".format(*server.get_host_and_port())
    import fsspec

    fsspec.filesystem("s3").mkdir("s3://pictures")
    yield "s3://pictures"
    server.stop()
    for name in [*environment, "AWS_ENDPOINT_URL"]:
        os.environ.pop(name)


@pytest.fixture(scope="module")
def cluster(bucket):
    """The bucket comes first: workers have the environment of their nodes."""
    nodes = ThreeNodes()
    yield nodes
    nodes.shutdown()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return make_pictures(tmp_path_factory.mktemp("pictures"), 118)


@pytest.fixture(scope="module")
def expected(pictures):
    status, text = run_program("-r", pictures)
    failures = [line for line in text.splitlines() if b'"error"' in line]
    assert status == 1 and len(failures) == 2 and text.count(b'"neighbors"') > 100
    return text


def test_records_are_those_of_the_program(cluster, pictures, expected, tmp_path):
    status, messages = run_job(cluster, "-r", pictures, "-o", tmp_path / "out", "--shard-size", 50)
    assert status == 1
    assert records(tmp_path / "out") == expected
    assert [part.read_bytes().count(b"\n") for part in parts(tmp_path / "out")] == [25, 50, 45]
    assert "facesat: 00/broken.jpg: " in messages and "facesat: 01/empty.png: the file is empty\n" in messages
    assert "120 images" in messages and "2 failures (decode 2)" in messages

    # The next start finds everything done, and its status and summary are the same.
    times = [part.stat().st_mtime_ns for part in parts(tmp_path / "out")]
    status, messages = run_job(cluster, "-r", pictures, "-o", tmp_path / "out", "--shard-size", 50)
    assert status == 1 and "2 failures (decode 2)" in messages
    assert "120 of the images (3 shards) were done already" in messages
    assert [part.stat().st_mtime_ns for part in parts(tmp_path / "out")] == times
    assert sorted(os.listdir(tmp_path / "out")) == sorted([MANIFEST, *(part.name for part in parts(tmp_path / "out"))])


def test_files_lists_and_options_are_those_of_the_program(cluster, pictures, tmp_path):
    write_picture(tmp_path / "b\udcff.pgm", FACES)
    write_picture(tmp_path / "b.pgm", FACES)
    write_picture(tmp_path / ".hidden.pgm", FACES)
    (tmp_path / "notes.txt").write_text("this is no picture")
    (tmp_path / "list").write_text(f"{pictures}/00/0003.pgm\nnone.pgm\n")
    arguments = ["./b.pgm", ".", "@list", pictures / "01", "gone.jpg"]
    arguments += [
        "--cascade",
        "lbp:frontalface",
        "--cascade",
        facesat.data.haarcascades + "haarcascade_frontalface_alt.xml",
    ]
    arguments += ["--scale-factor", "1.3", "--min-size", "30", "--min-neighbors", "2", "--max-pixels", "100000"]
    status, text = run_program(*arguments, cwd=tmp_path)
    assert status == 1 and b'"cascade":"haarcascade_frontalface_alt"' in text and b'"kind":"limit"' in text
    output = tmp_path / "out"
    for form, resources in {"jsonl": ["--num-cpus", 1], "parquet": ["--num-gpus", 0.5]}.items():
        run = run_job(cluster, *arguments, "-q", "-o", output / form, "--format", form, *resources, cwd=tmp_path)
        assert run == (1, "")
    assert records(output / "jsonl") == text
    rows = [row for part in parts(output / "parquet") for row in pq.read_table(part).to_pylist()]
    lines = [json.loads(line) for line in text.splitlines()]
    assert [{name: value for name, value in row.items() if value is not None} for row in rows] == lines


def test_archives_and_luma_are_those_of_the_program(cluster, pictures, expected, tmp_path):
    cv2 = pytest.importorskip("cv2")
    # Red is clipped, so that the colours have another grey than the luma.
    colours = np.stack([FACES // 3, FACES, np.minimum(2 * FACES.astype(int), 255)], 2)
    cv2.imwrite(str(tmp_path / "colour.jpg"), colours.astype(np.uint8))
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        tar.add(pictures, "in")
        tar.add(tmp_path / "colour.jpg", "colour.jpg")
    texts = []
    for options in ([], ["--luma"]):
        arguments = [tmp_path / "x.tar", tmp_path / "colour.jpg", *options]
        status, text = run_program(*arguments)
        output = tmp_path / f"out{len(options)}"
        assert run_job(cluster, *arguments, "-q", "-o", output) == (status, "")
        assert records(output) == text
        texts.append(text)
        within = f"{tmp_path}/x.tar/in/".encode()
        members = [line.replace(within, b"") for line in text.splitlines() if within in line]
        assert sorted(members) == sorted(expected.splitlines())
    assert texts[0] != texts[1]


@pytest.mark.parametrize("kind", ["node", "worker", "driver"])
def test_what_is_killed_costs_no_record(kind, cluster, pictures, expected, tmp_path):
    seeded = random.Random(f"{kind} 1")
    arguments = ["-r", pictures, "-o", tmp_path / "out", "--shard-size", 4, "--format", "jsonl"]
    job = Job(cluster, *arguments)
    assert kill_in_the_middle(kind, cluster, seeded, job, tmp_path / "out", shards=30)
    status, messages = job.wait()
    if kind == "driver":
        assert status == -9
        assert lost_and_doubled(records(tmp_path / "out"), expected)[1] == 0
        status, messages = run_job(cluster, *arguments)
        assert "were done already" in messages
    assert status == 1, messages
    assert records(tmp_path / "out") == expected
    assert len(parts(tmp_path / "out")) == 30 and len(os.listdir(tmp_path / "out")) == 31
    cluster.complete()


def test_a_shard_that_fails_too_often_is_done_by_the_next_start(cluster, pictures, expected, tmp_path):
    arguments = ["-r", pictures, "-o", tmp_path / "out", "--shard-size", 4, "--retries", 0]
    job = Job(cluster, *arguments)
    assert kill_in_the_middle("worker", cluster, random.Random(2), job, tmp_path / "out", shards=30)
    status, messages = job.wait()
    assert status == 3 and "could not be done" in messages and "start it again" in messages
    assert len(parts(tmp_path / "out")) >= 28  # without the one that the worker had, and perhaps the one that waited
    assert run_job(cluster, *arguments)[0] == 1
    assert records(tmp_path / "out") == expected


def test_changed_inputs_are_not_mixed_with_earlier_ones(cluster, tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in "bcdefg":
        write_picture(folder / f"{name}.pgm", FACES)
    arguments = [folder, "-o", output, "--shard-size", 2]
    assert run_job(cluster, *arguments)[0] == 0
    before = records(output)

    status, messages = run_job(cluster, *arguments, "--scale-factor", 1.2)
    assert status == 2 and "--scale-factor was 1.1, now it is 1.2" in messages

    write_picture(folder / "d.pgm", FACES[:, :200])  # the second shard's
    status, messages = run_job(cluster, *arguments)
    assert status == 2 and "shard 1 (d.pgm ... e.pgm)" in messages and records(output) == before
    untouched = parts(output)[0].stat().st_mtime_ns
    assert run_job(cluster, *arguments, "--redo-changed")[0] == 0
    assert records(output) == run_program(folder)[1] != before
    assert parts(output)[0].stat().st_mtime_ns == untouched and len(parts(output)) == 3

    for name in "bcd":
        (folder / f"{name}.pgm").unlink()
    write_picture(folder / "a.pgm", FACES)
    before = records(output)
    assert run_job(cluster, *arguments)[0] == 2 and records(output) == before
    assert run_job(cluster, *arguments, "--redo-changed")[0] == 0
    assert records(output) == run_program(folder)[1] and len(parts(output)) == 2

    shutil.rmtree(folder)
    folder.mkdir()
    before = records(output)
    status, messages = run_job(cluster, *arguments)
    assert status == 2 and "have no inputs any more" in messages and records(output) == before


def test_a_killed_redo_loses_no_record(cluster, pictures, tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    shutil.copytree(pictures, folder)
    arguments = ["-r", folder, "-o", output, "--shard-size", 4]
    assert run_job(cluster, *arguments)[0] == 1
    before, old = records(output), {part.name for part in parts(output)}

    write_picture(folder / "00" / "0000 more.pgm", FACES)  # moves all inputs after it, from one shard to the next
    job = Job(cluster, *arguments, "--redo-changed")
    while job.process.poll() is None and len({part.name for part in parts(output)} - old) < 5:
        time.sleep(0.005)
    job.process.kill()
    assert job.wait()[0] == -9
    assert set(before.splitlines()) <= set(records(output).splitlines())
    status, messages = run_job(cluster, *arguments)
    assert status == 2 and "--redo-changed" in messages
    assert set(before.splitlines()) <= set(records(output).splitlines())

    status, messages = run_job(cluster, *arguments, "--redo-changed")
    assert status == 1 and "were done already" in messages
    assert records(output) == run_program("-r", folder)[1]
    assert sorted(os.listdir(output)) == sorted([MANIFEST, *(part.name for part in parts(output))])


def test_a_redo_that_fails_loses_no_record(cluster, tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in "abcd":
        write_picture(folder / f"{name}.pgm", FACES)
    arguments = [folder, "-o", output, "--shard-size", 2]
    assert run_job(cluster, *arguments)[0] == 0
    old = [part.read_bytes() for part in parts(output)]
    write_picture(folder / "d.pgm", FACES[:, :200])
    manifest = (output / MANIFEST).read_bytes()
    _, changed = _shards.make_shards(_shards.list_inputs([str(folder)], recursive=False), 2, manifest)
    (output / changed.file("jsonl")).mkdir()  # which cannot be replaced by the part
    status, messages = run_job(cluster, *arguments, "--redo-changed")
    assert status == 3 and changed.file("jsonl") in messages
    assert [part.read_bytes() for part in parts(output) if part.is_file()] == old
    (output / changed.file("jsonl")).rmdir()
    assert run_job(cluster, *arguments, "--redo-changed")[0] == 0
    assert records(output) == run_program(folder)[1] and len(parts(output)) == 2


def test_only_its_own_temporary_files_are_deleted(cluster, tmp_path):
    write_picture(tmp_path / "a.pgm", FACES)
    output = tmp_path / "out"
    arguments = [tmp_path / "a.pgm", "-o", output]
    output.mkdir()
    manifest = _options.parse([*map(str, arguments)]).manifest()
    own = _output._Temporaries(manifest).name("part-000000-0123456789abcdef.jsonl")
    (output / own).write_bytes(b'{"image":')  # of an earlier start, which ended before it had a manifest
    assert run_job(cluster, *arguments)[0] == 0
    assert sorted(os.listdir(output)) == [MANIFEST, parts(output)[0].name]

    other = _output._Temporaries(b"of another job").name("part-000000-0123456789abcdef.jsonl")
    others = [".rsync.x4Zk1s.tmp", ".part-000000-0123456789abcdef.jsonl.tmp", ".tmp", "notes.tmp", other]
    for name in [own, *others]:
        (output / name).write_bytes(b"not yet whole")
    assert run_job(cluster, *arguments)[0] == 0
    assert sorted(os.listdir(output)) == sorted([MANIFEST, parts(output)[0].name, *others])


def test_parts_of_other_options_are_not_taken_for_done(cluster, tmp_path):
    write_picture(tmp_path / "a.pgm", FACES)
    output = tmp_path / "out"
    arguments = [tmp_path / "a.pgm", "-o", output]
    variants = [
        ["--scale-factor", 1.3], ["--cascade", "eye"], ["--cascade", "frontalface_default", "--cascade", "eye"],
        ["--min-neighbors", 1], ["--raw"], ["--min-size", 60], ["--max-size", "50x50"], ["--scan", "dense"],
        ["--equalize"], ["--luma"], ["--max-pixels", 1000], ["--max-seconds", 30],
    ]  # fmt: skip
    assert run_job(cluster, *arguments)[0] == 0
    before = records(output)
    jobs = [Job(cluster, *arguments, *options) for options in variants]
    for job, options in zip(jobs, variants):
        status, messages = job.wait()
        assert status == 2 and "was begun with other options" in messages, options
    # Neither where the manifest has gone, nor where it is that of the other job.
    (output / MANIFEST).rename(tmp_path / MANIFEST)
    status, messages = run_job(cluster, *arguments, "--raw")
    assert status == 2 and "is not empty" in messages
    (output / MANIFEST).write_bytes(_options.parse([*map(str, arguments), "--raw"]).manifest())
    status, messages = run_job(cluster, *arguments, "--raw")
    assert status == 2 and "inputs or options were added, removed or changed since shard 0" in messages
    assert records(output) == before
    assert run_job(cluster, *arguments, "--raw", "--redo-changed")[0] == 0
    assert records(output) == run_program(tmp_path / "a.pgm", "--raw")[1] != before


@pytest.mark.parametrize("manifest", [b"", b"null", b"[1]", b"{", b"\xff"])
def test_a_damaged_manifest_is_named(manifest, tmp_path):
    (tmp_path / MANIFEST).write_bytes(manifest)
    options = _options.parse(["a.pgm", "-o", str(tmp_path)])
    with pytest.raises(_options.UsageError, match=f"{MANIFEST} is damaged: name another folder"):
        _job._take_up(_output.output_of(options.output), options)


def test_wrong_usage_is_refused_before_anything_is_done(cluster, tmp_path):
    write_picture(tmp_path / "a.pgm", FACES)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("not facesat's")
    cases = [
        (["a.pgm", "-o", tmp_path / "mine"], "is not empty"),
        (["a.pgm", "-o", tmp_path / "a.pgm"], "File exists"),
        (["-", "-o", tmp_path / "out"], "standard input"),
        (["a.pgm", "-o", tmp_path / "out", "--cascade", "nose"], 'no cascade named "nose"'),
        (["a.pgm", "-o", tmp_path / "out", "--scale-factor", 1], "scale_factor"),
        (["a.pgm", "-o", tmp_path / "out", "--backend", "cuda"], "--num-gpus"),
        (["a.pgm", "-o", tmp_path / "out", "--shard-size", 0], "--shard-size"),
        (["@none", "-o", tmp_path / "out"], "none"),
        (["a.pgm", "-o", "ftp://127.0.0.1:9/out"], "ftp:// is not known to show a file only when all of it is written"),
        (["a.pgm", "nosuch://a/b", "-o", tmp_path / "out"], "nosuch://a cannot be reached"),
    ]
    jobs = [Job(cluster, *arguments, cwd=tmp_path) for arguments, _ in cases]
    for job, (arguments, sentence) in zip(jobs, cases):
        status, messages = job.wait()
        assert status == 2 and sentence in messages and "Traceback" not in messages, arguments
    assert os.listdir(tmp_path / "mine") == ["letter.txt"] and not (tmp_path / "out").exists()


def test_output_that_vanishes_ends_the_job(cluster, pictures, tmp_path):
    output = tmp_path / "out"
    job = Job(cluster, "-r", pictures, "-o", output, "--shard-size", 4)
    while not parts(output) and job.process.poll() is None:
        time.sleep(0.01)
    (output / MANIFEST).unlink()
    status, messages = job.wait()
    assert status == 3 and "on a file system that all nodes share" in messages


def test_a_signal_ends_the_job(cluster, pictures, tmp_path):
    job = Job(cluster, "-r", pictures, "-o", tmp_path / "out", "--shard-size", 4)
    while not parts(tmp_path / "out") and job.process.poll() is None:
        time.sleep(0.01)
    job.process.terminate()
    status, messages = job.wait()
    assert (
        status == 128 + 15 and messages.splitlines()[-1] == "facesat: interrupted; the same command goes on from here"
    )


def test_pictures_and_results_in_a_bucket(cluster, bucket, tmp_path):
    import fsspec

    for name in ("a.pgm", "b.PGM", "sub/c#1 ?.pgm", "sub/d.pgm"):
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_picture(file, np.roll(FACES, len(name), 1))
    (tmp_path / "in" / "e.jpg").write_bytes(b"this is no picture")
    (tmp_path / "in" / "notes.txt").write_text("this is no picture")
    (tmp_path / "in" / ".hidden.pgm").write_bytes(b"")
    store = fsspec.filesystem("s3", use_listings_cache=False)
    store.put(str(tmp_path / "in"), f"{bucket}/in", recursive=True)
    arguments = [f"{bucket}/in", "-r", "-o", f"{bucket}/out", "--shard-size", 2]
    status, messages = run_job(cluster, *arguments)
    assert status == 1, messages
    names = [name for name in store.ls(f"{bucket}/out", detail=False) if "part-" in name]
    _, expected = run_program("-r", tmp_path / "in")
    assert len(names) == 3
    assert sorted(b"".join(map(store.cat_file, names)).splitlines()) == sorted(expected.splitlines())
    assert "5 of the images (3 shards) were done already" in run_job(cluster, *arguments)[1]

    # An object that has changed: its part is replaced, and the others stay.
    store.pipe_file(f"{bucket}/in/sub/d.pgm", store.cat_file(f"{bucket}/in/a.pgm"))
    write_picture(tmp_path / "in" / "sub" / "d.pgm", np.roll(FACES, len("a.pgm"), 1))
    status, messages = run_job(cluster, *arguments)
    assert status == 2 and "--redo-changed" in messages
    assert run_job(cluster, *arguments, "--redo-changed")[0] == 1
    remaining = [name.rsplit("/", 1)[-1] for name in store.ls(f"{bucket}/out", detail=False)]
    assert len(remaining) == 4 and MANIFEST in remaining
    assert sum(f"{bucket}/out/{name}".removeprefix("s3://") in names for name in remaining) == 2
    found = b"".join(store.cat_file(f"{bucket}/out/{name}") for name in remaining if name != MANIFEST)
    assert sorted(found.splitlines()) == sorted(run_program("-r", tmp_path / "in")[1].splitlines())

    # Without -r, one object, and one that does not exist.
    run_job(cluster, f"{bucket}/in/", f"{bucket}/in/a.pgm", f"{bucket}/in/none.pgm", "-o", tmp_path / "out")
    lines = [json.loads(line) for line in records(tmp_path / "out").splitlines()]
    assert [line["image"] for line in lines] == [
        "a.pgm", "b.PGM", "e.jpg", f"{bucket}/in/a.pgm", f"{bucket}/in/none.pgm",
    ]  # fmt: skip
    assert lines[-1]["error"] == {"kind": "read", "message": "no such file or folder"}


def test_a_local_cluster_is_started_where_there_is_none(tmp_path):
    write_picture(tmp_path / "a.pgm", FACES)
    command = [sys.executable, "-m", "facesat.ray", "--address", "local", "a.pgm", "-o", "out", "--progress", "on"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "1/1 " in done.stderr
    assert records(tmp_path / "out") == run_program("a.pgm", cwd=tmp_path)[1]
