"""facesat.sat on the host against cumulative sums and cv2.integral."""

import facesat
import numpy as np
import pytest
from facesat import _sat

TYPES = [np.uint8, np.uint16, np.int16, np.int32, np.uint32, np.float32, np.float64]
PAIRS = [(x, table) for x, tables in _sat.TABLES.items() for table in tables]


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
    table_type = {np.uint8: np.uint32, np.uint16: np.int64, np.int16: np.int64}.get(dtype, dtype)
    table = facesat.sat(x, channels_last=False)
    assert table.dtype == table_type and table.shape == shape
    assert table.tobytes() == expected_table(x, table_type).tobytes()
    exclusive = facesat.sat(x, exclusive=True, channels_last=False)
    assert exclusive.shape == (*shape[:-2], shape[-2] + 1, shape[-1] + 1)
    assert not exclusive[..., 0, :].any() and not exclusive[..., :, 0].any()
    assert exclusive[..., 1:, 1:].tobytes() == table.tobytes()


@pytest.mark.parametrize("dtype, table_type", PAIRS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 41), (41, 1), (60, 70), (2, 9, 11)], ids=str)
def test_tables_of_all_types(dtype, table_type, shape):
    x = random_array(shape, np.dtype(dtype))
    expected = expected_table(x, table_type)
    out = np.full(shape, 7, table_type)
    assert facesat.sat(x, out=out) is out and out.tobytes() == expected.tobytes()
    for spelt in (table_type, np.dtype(table_type), getattr(np, table_type)):
        table = facesat.sat(x, dtype=spelt)
        assert table.dtype == table_type and table.tobytes() == expected.tobytes()
    assert facesat.sat(x, dtype=table_type, exclusive=True)[..., 1:, 1:].tobytes() == expected.tobytes()
    if dtype in _sat.WITH_SQUARES:
        with np.errstate(over="ignore"):
            expected = expected_table(x.astype(table_type) ** 2, table_type)
        assert facesat.sat(x, squares=True, dtype=table_type).tobytes() == expected.tobytes()


@pytest.mark.parametrize("table_type", ["uint64", "int64", "float64"])
def test_sums_beyond_32_bits_are_exact(table_type):
    def total(x, **options):
        return int(facesat.sat(x, dtype=table_type, **options)[-1, -1])

    x = np.full((4200, 4100), 255, np.uint8)  # as Python's integers, which never wrap
    assert total(x) == 4200 * 4100 * 255 > 2**32
    assert total(x, squares=True) == 4200 * 4100 * 255**2
    assert int(facesat.sat(x)[-1, -1]) == 4200 * 4100 * 255 % 2**32
    x = np.full((300, 401), 65535, np.uint16)
    assert total(x) == 300 * 401 * 65535 > 2**32
    assert total(x, squares=True) == 300 * 401 * 65535**2
    x = np.full((300, 401), 2**32 - 1, np.uint32)
    assert total(x) == 300 * 401 * (2**32 - 1)
    if table_type != "uint64":
        x = np.full((300, 401), -(2**15), np.int16)
        assert total(x) == -300 * 401 * 2**15 < -(2**31)
        assert total(x, squares=True) == 300 * 401 * 2**30
        assert total(np.full((300, 401), -(2**31), np.int32)) == -300 * 401 * 2**31


def test_the_default_tables_of_16_bits_are_exact():
    for dtype in (np.uint16, np.int16):
        x = random_array((700, 800), dtype)
        assert [int(facesat.sat(x)[-1, -1])] == [sum(x.ravel().tolist())]
        assert int(facesat.sat(x, squares=True)[-1, -1]) == sum(value**2 for value in x.ravel().tolist())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 30), (30, 1), (47, 61), (13, 17, 1), (13, 17, 2), (13, 17, 3), (9, 8, 5)]
)
def test_tables_are_those_of_opencv(dtype, shape):
    cv2 = pytest.importorskip("cv2")
    depths = {"int32": cv2.CV_32S, "float32": cv2.CV_32F, "float64": cv2.CV_64F}
    x = random_array(shape, dtype)
    if np.issubdtype(dtype, np.floating):
        x = np.round(8 * x)  # whole numbers, whose sums are exact in any order
    channels_last = len(shape) == 3 or None
    compared = 0
    for table_type, depth in depths.items():
        options = {"exclusive": True, "dtype": table_type, "channels_last": channels_last}
        try:
            expected, squares = cv2.integral2(x, sdepth=depth, sqdepth=cv2.CV_64F)
        except cv2.error:
            continue
        table = facesat.sat(x, **options)
        # OpenCV leaves out a last dimension of 1.
        assert table.dtype == expected.dtype and np.array_equal(table.reshape(expected.shape), expected)
        compared += 1
        if dtype in (np.uint8, np.uint16, np.int16):
            table = facesat.sat(x, squares=True, **{**options, "dtype": np.float64})
            assert np.array_equal(table.reshape(squares.shape), squares)
    assert compared > 0


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 20, 3), (20, 1, 4), (21, 19, 3), (3, 2, 300), (4, 21, 19, 3)], ids=str
)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
def test_each_channel_is_summed_by_itself(dtype, shape, exclusive):
    x = random_array(shape, dtype)
    table = facesat.sat(x, exclusive=exclusive, channels_last=True)
    border = int(exclusive)
    assert table.shape == (*shape[:-3], shape[-3] + border, shape[-2] + border, shape[-1])
    assert table.flags.c_contiguous
    for channel in range(shape[-1]):
        plane = facesat.sat(x[..., channel], exclusive=exclusive, channels_last=False)
        assert table.dtype == plane.dtype and np.array_equal(table[..., channel], plane)
    for view in (x[::-1], x[..., ::-1], x[..., :1], np.asfortranarray(x), np.repeat(x, 2, -2)[..., ::2, :]):
        packed = np.ascontiguousarray(view)
        assert np.array_equal(facesat.sat(view, channels_last=True), facesat.sat(packed, channels_last=True))
    out = np.empty_like(table)
    assert facesat.sat(x, exclusive=exclusive, channels_last=True, out=out) is out
    assert out.tobytes() == table.tobytes()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_picture_with_channels_is_not_taken_for_a_batch(channels):
    x = random_array((48, 64, channels), np.uint8)
    with pytest.raises(facesat.ArgumentError, match="channels_last=True.*a batch of 48 pictures.*channels_last=False"):
        facesat.sat(x)
    batch = facesat.sat(x, channels_last=False)
    assert batch.shape == x.shape and np.array_equal(batch, expected_table(x, np.uint32))
    assert np.array_equal(facesat.sat(np.moveaxis(x, -1, 0)), np.moveaxis(facesat.sat(x, channels_last=True), -1, 0))


def test_tensors_in_host_memory_are_summed_to_tensors():
    torch = pytest.importorskip("torch")
    for dtype, tables in _sat.TABLES.items():
        x = random_array((9, 8, 3), np.dtype(dtype))
        tensor = torch.from_numpy(x)
        for table in tables:
            for view, picture in ((tensor, x), (tensor.permute(1, 0, 2), x.transpose(1, 0, 2))):
                sums = facesat.sat(view, exclusive=True, channels_last=True, dtype=getattr(torch, table))
                assert isinstance(sums, torch.Tensor) and sums.is_contiguous() and str(sums.dtype) == f"torch.{table}"
                expected = facesat.sat(picture, exclusive=True, channels_last=True, dtype=table)
                assert np.array_equal(sums.numpy(), expected)
        out = torch.empty((9, 8), dtype=getattr(torch, tables[-1]))
        assert facesat.sat(tensor[..., 1], out=out) is out
        assert np.array_equal(out.numpy(), facesat.sat(x[..., 1], dtype=tables[-1]))


def test_any_strides_are_taken():
    x = random_array((40, 50), np.float32)
    for view in (
        x.T,
        x[::-1],
        x[:, ::-1],
        x[::3, ::-2],
        x[:, ::2],
        np.asfortranarray(x),
        x[5:, 3:],
        x[:1, ::7],
        x[::7, :1],
    ):
        assert np.array_equal(facesat.sat(view), expected_table(view, np.float32))
    broadcast = np.broadcast_to(np.float32(3), (40, 50))
    assert np.array_equal(facesat.sat(broadcast), expected_table(broadcast, np.float32))
    wide = np.zeros((40, 60), np.float32)
    facesat.sat(x, out=wide[:, :50])
    assert np.array_equal(wide[:, :50], expected_table(x, np.float32)) and not wide[:, 50:].any()


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float64], ids=lambda dtype: dtype.__name__)
def test_elements_at_odd_addresses_are_taken(dtype):
    packed = np.zeros((9, 11), [("before", np.uint8), ("x", dtype)])  # steps that are no multiples of an element
    packed["x"] = random_array(packed.shape, dtype)
    shifted = np.frombuffer(b"." + packed["x"].tobytes(), np.uint8)[1:].view(dtype).reshape(packed.shape)
    assert not packed["x"].flags.aligned and not shifted.flags.aligned
    expected = facesat.sat(packed["x"].copy())
    assert np.array_equal(facesat.sat(packed["x"]), expected) and np.array_equal(facesat.sat(shifted), expected)
    out = np.frombuffer(bytearray(expected.nbytes + 1), np.uint8)[1:].view(expected.dtype).reshape(expected.shape)
    with pytest.raises(facesat.ArgumentError, match="the table has elements of . bytes, but begins between two"):
        facesat.sat(packed["x"], out=out)


def test_what_is_wrong_is_an_error():
    x = np.zeros((5, 5), np.uint8)
    for call in (
        lambda: facesat.sat(x.astype(np.int8)),
        lambda: facesat.sat(x.astype(np.int64)),
        lambda: facesat.sat(x.astype(complex)),
        lambda: facesat.sat(np.zeros(5, np.uint8)),
        lambda: facesat.sat(np.zeros((2, 2, 2, 2), np.uint8)),
        lambda: facesat.sat(np.zeros((0, 5), np.uint8)),
        lambda: facesat.sat(np.zeros((5, 0), np.uint16), exclusive=True),
        lambda: facesat.sat(np.zeros((5, 0, 3), np.uint8), channels_last=True),
        lambda: facesat.sat(np.zeros((5, 5, 0), np.uint8), channels_last=True),
        lambda: facesat.sat(np.zeros((5, 5, 5, 3), np.uint8)),
        lambda: facesat.sat(x, channels_last=True),
        lambda: facesat.sat(x, out=np.zeros((5, 6), np.uint32)),
        lambda: facesat.sat(x, out=np.zeros((5, 5), np.uint16)),
        lambda: facesat.sat(np.zeros((5, 5, 3), np.uint8), channels_last=True, out=np.zeros((5, 5), np.uint32)),
        lambda: facesat.sat(np.zeros((5, 5, 3), np.uint8), channels_last=True, out=np.zeros((3, 5, 5), np.uint32)),
        lambda: facesat.sat(x, exclusive=True, out=np.zeros((5, 5), np.uint32)),
        lambda: facesat.sat(x.astype(np.float32), squares=True),
        lambda: facesat.sat(x.astype(np.int32), dtype=np.uint64),
        lambda: facesat.sat(x.astype(np.float64), dtype=np.float32),
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
        (lambda: facesat.sat(U8.astype(np.int8)), "not of int8$"),
        (lambda: facesat.sat(U8.astype(complex)), "not of complex128$"),
        (lambda: facesat.sat(U8.astype(">f4")), "type >f4 are in the byte order of other machines"),
        (lambda: facesat.sat([[1, 2], [3, 4]]), "not of int64, which NumPy chooses for this list"),
        (lambda: facesat.sat([[1, 2], [3]]), "no array of this list|not of object|not 1$"),
        (lambda: facesat.sat(None), "two dimensions, or three with a batch, not 0"),
        (lambda: facesat.sat(U8.astype(np.float32), squares=True), "uint8, uint16, int16 only, not of float32"),
        (
            lambda: facesat.sat(U8.astype(np.int16), out=np.zeros((5, 5), np.uint32)),
            "of int16 must be of int64 or int32 or float64, not of uint32",
        ),
        (lambda: facesat.sat(U8, dtype="int16"), "of uint8 must be of uint32 or .*, not of int16"),
        (lambda: facesat.sat(U8, dtype="integers"), "dtype must be a type of elements, not 'integers'"),
        (
            lambda: facesat.sat(U8, dtype=np.int32, out=np.zeros((5, 5), np.uint32)),
            "dtype is int32, but out is of uint32",
        ),
        (lambda: facesat.sat(U8, channels_last=True), "has three dimensions, or four with a batch, not 2"),
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
