"""facesat.scan against NumPy, and as a recursive filter."""

import numpy as np
import pytest

import facesat

TYPES = (np.int32, np.uint32, np.int64, np.float32, np.float64)
CUMULATIVE = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}


@pytest.mark.parametrize("op", CUMULATIVE)
@pytest.mark.parametrize("dtype", TYPES)
def test_it_is_numpys_accumulate(op, dtype):
    x = np.random.default_rng(1).choice([-1, 1, 1, 2, 3], 99).astype(dtype)

    def accumulated(values):
        return CUMULATIVE[op].accumulate(values, dtype=dtype)

    expected = accumulated(x)
    result = facesat.scan(x, op)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)
    exclusive = facesat.scan(x, op, exclusive=True)
    np.testing.assert_array_equal(exclusive[1:], expected[:-1])
    assert CUMULATIVE[op](exclusive[0], x[0]) == x[0]
    np.testing.assert_array_equal(facesat.scan(x[::-1], op), accumulated(x[::-1]))


def test_the_result_can_be_given():
    x = np.arange(7, dtype=np.float64)
    out = np.empty_like(x)
    assert facesat.scan(x, out=out) is out
    np.testing.assert_array_equal(out, np.cumsum(x))
    facesat.scan(x, out=x)
    np.testing.assert_array_equal(x, out)


def test_a_recursive_filter_is_a_scan_of_maps():
    signal = np.random.default_rng(2).standard_normal(5000).astype(np.float32)
    c = np.float32(0.75)
    maps = np.stack([np.full_like(signal, c), signal], axis=1)
    filtered = facesat.scan(maps, "compose")[:, 1]
    y, expected = np.float32(0), []
    for value in signal:
        y = c * y + value
        expected.append(y)
    np.testing.assert_array_equal(filtered, np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("x", "arguments", "sentence"),
    [
        (np.zeros((2, 3), np.float32), {}, "one dimension, not of the shape \\(2, 3\\)"),
        (np.zeros(3, np.uint8), {}, "a scan is of int32, .*, not of uint8"),
        (np.zeros(0, np.float32), {}, "at least one element"),
        (np.zeros(4, np.float32), {"op": "compose"}, "of the shape \\(n, 2\\), not \\(4,\\)"),
        (np.zeros((4, 2)), {"op": "compose"}, "maps are of uint32, float32, not of float64"),
        (np.zeros(4, np.float32), {"op": "add"}, "one of sum, product, .*, not 'add'"),
        (np.zeros(4, np.float32), {"out": np.zeros(5, np.float32)}, "the shape \\(4,\\)"),
        (np.zeros(4, np.float32), {"out": np.zeros(4)}, "float32, not \\(4,\\) and float64"),
        (np.zeros(4, np.float32), {"out": np.zeros(8, np.float32)[::2]}, "side by side"),
        (np.zeros(4, np.float32), {"out": 5}, "out must be an array"),
        ([1, 2, 3.5], {"op": 7}, "op"),
    ],
)
def test_what_it_does_not_take(x, arguments, sentence):
    with pytest.raises(facesat.ArgumentError, match=sentence):
        facesat.scan(x, **arguments)


def test_algorithms_are_for_devices():
    with pytest.raises(facesat.BackendError, match="on a device"):
        facesat.scan(np.zeros(4, np.float32), algorithm="facesat_scan")
    assert all(isinstance(name, str) for name in facesat.scan_algorithms())
