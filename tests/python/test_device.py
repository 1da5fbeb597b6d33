"""Arrays of CuPy and PyTorch in the memory of a GPU. Needs one, and both libraries."""

import json
import pathlib
import re
import subprocess
import sys
import time

import facesat
import numpy as np
import pytest
from pictures import FACES

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")
if not facesat.devices() or not torch.cuda.is_available():
    pytest.skip("no usable GPU", allow_module_level=True)

rng = np.random.default_rng(1)


FAINT = (FACES * 0.6).astype(np.uint8)
IMAGES = {
    "gray": FACES,
    "one channel": FACES[..., None],
    "BGR": np.dstack([FAINT, FACES, FAINT + 20]),
    "BGRA": np.dstack([FAINT, FACES, FAINT + 20, FACES[::-1]]),
}
OPTIONS = {"scale_factor": 1.1, "min_neighbors": 0, "scan": "dense"}


def as_set(faces):
    return sorted(zip(map(tuple, faces.boxes.tolist()), faces.neighbors.tolist(), faces.scores.tolist()))


@pytest.fixture(scope="module")
def on_cpu():
    return facesat.Detector(backend="cpu", **OPTIONS)


@pytest.fixture(scope="module")
def on_gpu():
    return facesat.Detector(backend="cuda", **OPTIONS)


@pytest.mark.parametrize("name", IMAGES)
def test_images_on_the_gpu_have_the_same_windows(name, on_cpu, on_gpu):
    image = IMAGES[name]
    expected = as_set(on_cpu(image))
    assert len(expected) > 100
    assert as_set(on_gpu(image)) == expected
    assert as_set(on_gpu(cupy.asarray(image))) == expected
    assert as_set(on_gpu(torch.from_numpy(image.copy()).cuda())) == expected
    assert as_set(on_cpu(torch.from_numpy(image.copy()).cuda())) == expected
    height, width = image.shape[:2]
    padded = cupy.zeros((height + 9, width + 11, *image.shape[2:]), cupy.uint8)
    padded[4 : 4 + height, 7 : 7 + width] = cupy.asarray(image)
    assert as_set(on_gpu(padded[4 : 4 + height, 7 : 7 + width])) == expected


def slowly_filled(image, stream):
    """A tensor whose contents arrive late in `stream`."""
    with torch.cuda.stream(stream):
        tensor = torch.full(image.shape, 90, dtype=torch.uint8, device="cuda")
        torch.cuda._sleep(20_000_000)  # cycles
        tensor.copy_(torch.from_numpy(image), non_blocking=True)
    return tensor


def test_a_stream_that_is_not_the_default_one_is_waited_for(on_cpu, on_gpu):
    image = IMAGES["BGR"]
    expected = as_set(on_cpu(image))
    stream = torch.cuda.Stream()
    for given in (stream, stream.cuda_stream, cupy.cuda.Stream.from_external(stream)):
        assert as_set(on_gpu(slowly_filled(image, stream), stream=given)) == expected
    with torch.cuda.stream(stream):  # the current one
        assert as_set(on_gpu(slowly_filled(image, stream))) == expected
    with cupy.cuda.Stream(non_blocking=True):
        array = cupy.zeros(image.shape, cupy.uint8)
        array.set(image)
        assert as_set(on_gpu(array)) == expected
    torch.cuda.synchronize()


def copied_bytes(work, tmp_path):
    """How many bytes CUDA copies from and to the host during work()."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        torch.cuda.synchronize()
    file = tmp_path / "trace.json"
    profile.export_chrome_trace(str(file))
    events = [e for e in json.loads(file.read_text())["traceEvents"] if e.get("cat") == "gpu_memcpy"]
    assert events, "the profiler has seen no copy at all"
    return sum(e["args"]["bytes"] for e in events if "HtoD" in e["name"] or "DtoH" in e["name"])


def test_pixels_do_not_pass_through_the_host(on_gpu, tmp_path):
    image = rng.integers(0, 256, (1080, 1920, 3), np.uint8)
    tensor = torch.from_numpy(image).cuda()
    detector = facesat.Detector(backend="cuda")
    for _ in range(3):
        detector(tensor)
    assert copied_bytes(lambda: detector(image), tmp_path) >= image.nbytes  # the measurement works
    assert copied_bytes(lambda: detector(tensor), tmp_path) < image.nbytes / 20


def test_what_is_wrong_is_an_error(on_gpu):
    for image in (
        cupy.zeros((5, 5), cupy.float32),
        cupy.zeros((5, 5, 2), cupy.uint8),
        cupy.zeros((50, 50), cupy.uint8).T[::2].T,
        torch.zeros(5, 5, device="cuda"),
    ):
        with pytest.raises(facesat.Error):
            on_gpu(image)
    with pytest.raises(facesat.Error):
        on_gpu(cupy.zeros((50, 50), cupy.uint8), stream="main")


TYPES = [np.uint8, np.int32, np.uint32, np.float32, np.float64]


def whole_numbers(shape, dtype):
    """Small enough that floating-point sums are exact in any order."""
    return rng.integers(0, 3, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (33, 57), (1000, 1500), (3, 64, 65)], ids=str)
def test_tables_are_cumulative_sums(dtype, exclusive, shape):
    x = whole_numbers(shape, dtype)
    expected = facesat.sat(x, exclusive=exclusive)
    with cupy.cuda.Stream(non_blocking=True):
        ours = facesat.sat(cupy.asarray(x), exclusive=exclusive)
        assert isinstance(ours, cupy.ndarray) and ours.dtype == expected.dtype
        assert np.array_equal(ours.get(), expected)
        out = cupy.empty(expected.shape, expected.dtype)
        assert facesat.sat(cupy.asarray(x), exclusive=exclusive, out=out) is out
        assert np.array_equal(out.get(), expected)
    with torch.cuda.stream(torch.cuda.Stream()):
        ours = facesat.sat(torch.from_numpy(x).cuda(), exclusive=exclusive)
        assert isinstance(ours, torch.Tensor) and ours.is_cuda
        assert np.array_equal(ours.cpu().numpy(), expected)
    if dtype == np.uint8:
        squares = facesat.sat(cupy.asarray(x), squares=True, exclusive=exclusive)
        assert np.array_equal(squares.get(), facesat.sat(x, squares=True, exclusive=exclusive))


@pytest.mark.parametrize("convert", [cupy.asarray, lambda x: torch.from_numpy(x).cuda()], ids=["cupy", "torch"])
def test_what_only_the_host_sums_is_refused(convert):
    x = convert(whole_numbers((20, 30), np.int16))
    with pytest.raises(
        facesat.BackendError, match="no tables of int64 for arrays of int16: convert x to float64 first"
    ):
        facesat.sat(x)
    with pytest.raises(facesat.BackendError, match="no tables of int32 for arrays of int16: convert x to int32 first"):
        facesat.sat(x, dtype=np.int32)
    with pytest.raises(facesat.BackendError, match="channels_last is for arrays in host memory"):
        facesat.sat(convert(whole_numbers((20, 30, 3), np.uint8)), channels_last=True)
    with pytest.raises(facesat.ArgumentError, match="channels_last=True"):
        facesat.sat(convert(whole_numbers((20, 30, 3), np.uint8)))


@pytest.mark.parametrize("algorithm", facesat.sat_algorithms())
def test_every_algorithm_can_be_chosen(algorithm):
    x = whole_numbers((300, 400), np.float32)
    assert np.array_equal(facesat.sat(cupy.asarray(x), algorithm=algorithm).get(), facesat.sat(x))


def median_ms(work, runs=30):
    times = []
    for _ in range(runs + 5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times[5:])[runs // 2]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("side", [1024, 4096, 8192])
def test_it_is_faster_than_two_cumulative_sums(side, dtype, capsys):
    x = whole_numbers((side, side), dtype)
    in_cupy, in_torch = cupy.asarray(x), torch.from_numpy(x).cuda()
    table = torch.int32 if dtype == np.uint8 else in_torch.dtype
    table_cupy = np.uint32 if dtype == np.uint8 else dtype
    ours = median_ms(lambda: facesat.sat(in_torch))
    theirs = median_ms(lambda: torch.cumsum(torch.cumsum(in_torch, 0, dtype=table), 1, dtype=table))
    cupys = median_ms(lambda: cupy.cumsum(cupy.cumsum(in_cupy, 0, table_cupy), 1, table_cupy))
    name = np.dtype(dtype).name
    with capsys.disabled():
        print(f"\n{side}^2 {name}: facesat.sat {ours:.3f} ms, torch {theirs:.3f} ms, cupy {cupys:.3f} ms")
    assert ours < theirs and ours < cupys


def test_the_example_measures_every_algorithm():
    example = pathlib.Path(__file__).parents[2] / "examples" / "python" / "cupy_sat.py"
    done = subprocess.run([sys.executable, example], check=True, capture_output=True, text=True)
    lines = [re.fullmatch(r"(\w+): [0-9.]+ ms, at most (\S+) from cumsum", line) for line in done.stdout.splitlines()]
    assert [line[1] for line in lines] == list(facesat.sat_algorithms())
    assert all(float(line[2]) < 1e-3 for line in lines)
