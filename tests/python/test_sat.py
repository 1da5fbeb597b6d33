"""facesat.sat on the host against cumulative sums."""

import facesat
import numpy as np
import pytest

TYPES = [np.uint8, np.int32, np.uint32, np.float32, np.float64]


def random_array(shape, dtype, seed=1):
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    information = np.iinfo(dtype)
    return random.integers(information.min, information.max, shape, dtype, endpoint=True)


def expected_table(x, dtype):
    with np.errstate(over="ignore"):
        return np.cumsum(np.cumsum(x, axis=-2, dtype=dtype), axis=-1, dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (33, 57), (3, 20, 30), (1, 9, 9)], ids=str)
def test_tables_have_the_bits_of_cumulative_sums(dtype, shape):
    x = random_array(shape, dtype)
    table_type = np.uint32 if dtype == np.uint8 else dtype
    table = facesat.sat(x)
    assert table.dtype == table_type and table.shape == shape
    assert table.tobytes() == expected_table(x, table_type).tobytes()
    exclusive = facesat.sat(x, exclusive=True)
    assert exclusive.shape == (*shape[:-2], shape[-2] + 1, shape[-1] + 1)
    assert not exclusive[..., 0, :].any() and not exclusive[..., :, 0].any()
    assert exclusive[..., 1:, 1:].tobytes() == table.tobytes()


@pytest.mark.parametrize("out_type", [np.uint32, np.int32, np.float32], ids=lambda dtype: dtype.__name__)
def test_bytes_have_tables_of_three_types_and_squares(out_type):
    x = random_array((60, 70), np.uint8)
    out = np.full(x.shape, 7, out_type)
    assert facesat.sat(x, out=out) is out
    assert np.array_equal(out, expected_table(x, out_type))
    facesat.sat(x, squares=True, out=out)
    assert np.array_equal(out, expected_table(x.astype(out_type) ** 2, out_type))


def test_any_strides_are_taken():
    x = random_array((40, 50), np.float32)
    for view in (x.T, x[::-1], x[:, ::2], np.asfortranarray(x), x[5:, 3:]):
        assert np.array_equal(facesat.sat(view), expected_table(view, np.float32))
    wide = np.zeros((40, 60), np.float32)
    facesat.sat(x, out=wide[:, :50])
    assert np.array_equal(wide[:, :50], expected_table(x, np.float32)) and not wide[:, 50:].any()


def test_what_is_wrong_is_an_error():
    x = np.zeros((5, 5), np.uint8)
    for call in (
        lambda: facesat.sat(x.astype(np.int16)),
        lambda: facesat.sat(x.astype(complex)),
        lambda: facesat.sat(np.zeros(5, np.uint8)),
        lambda: facesat.sat(np.zeros((2, 2, 2, 2), np.uint8)),
        lambda: facesat.sat(np.zeros((0, 5), np.uint8)),
        lambda: facesat.sat(x, out=np.zeros((5, 6), np.uint32)),
        lambda: facesat.sat(x, out=np.zeros((5, 5), np.float64)),
        lambda: facesat.sat(x, exclusive=True, out=np.zeros((5, 5), np.uint32)),
        lambda: facesat.sat(x.astype(np.float32), squares=True),
        lambda: facesat.sat(x, algorithm="nehab_2011"),
        lambda: facesat.sat(x, out=np.broadcast_to(np.uint32(0), (5, 5))),
    ):
        with pytest.raises(facesat.Error) as error:
            call()
        assert " " in str(error.value)


U8 = np.zeros((5, 5), np.uint8)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: facesat.sat(U8.astype(np.int16)), "not of int16$"),
        (lambda: facesat.sat(U8.astype(complex)), "not of complex128$"),
        (lambda: facesat.sat(U8.astype(">f4")), "type >f4 are in the byte order of other machines"),
        (lambda: facesat.sat([[1, 2], [3, 4]]), "not of int64, which NumPy chooses for this list"),
        (lambda: facesat.sat([[1, 2], [3]]), "no array of this list|not of object|not 1$"),
        (lambda: facesat.sat(None), "two dimensions, or three with a batch, not 0"),
        (lambda: facesat.sat(U8.astype(np.float32), squares=True), "uint8 only, not of float32"),
        (
            lambda: facesat.sat(U8, out=np.zeros((5, 5))),
            "of uint8 must be of uint32 or int32 or float32, not of float64",
        ),
        (lambda: facesat.sat(U8, out=np.zeros((5, 5), ">u4")), "type >u4 are in the byte order of other machines"),
        (lambda: facesat.sat(U8, out=[[0]]), "out must be an array, not an object of type list"),
        (lambda: facesat.sat(U8, algorithm=5), "algorithm must be a string, not 5"),
    ],
)
def test_messages_name_what_was_given(call, sentence):
    with pytest.raises(facesat.ArgumentError, match=sentence):
        call()


def test_the_converted_arrays_that_messages_suggest_are_taken():
    x = np.array([[1, 2], [3, 4]], np.int32)
    big = x.astype(">i4")
    assert np.array_equal(facesat.sat(big.astype(big.dtype.newbyteorder("="))), facesat.sat(x))
    assert np.array_equal(facesat.sat([[1.0, 2.0]]), [[1, 3]])
