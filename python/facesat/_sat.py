from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import _arguments, _facesat

# The element types of arrays, and for each those of its tables, the default one first.
TABLES = {
    "uint8": ("uint32", "int32", "float32", "uint64", "int64", "float64"),
    "uint16": ("int64", "uint64", "uint32", "int32", "float64"),
    "int16": ("int64", "int32", "float64"),
    "int32": ("int32", "int64", "float64"),
    "uint32": ("uint32", "uint64", "int64", "float64"),
    "float32": ("float32", "float64"),
    "float64": ("float64",),
}
# The same for arrays on a device.
DEVICE_TABLES = {
    "uint8": ("uint32", "int32", "float32"),
    "int32": ("int32",),
    "uint32": ("uint32",),
    "float32": ("float32",),
    "float64": ("float64",),
}
WITH_SQUARES = ("uint8", "uint16", "int16")


def _to_numpy(x: Any) -> Any:
    try:
        return np.asarray(x)
    except (TypeError, ValueError) as error:
        raise _facesat.ArgumentError(f"NumPy makes no array of this {type(x).__name__}: {error}") from None


def _type_name(array: Any) -> str:
    if not getattr(array.dtype, "isnative", True):
        raise _facesat.ArgumentError(
            f"elements of type {array.dtype} are in the byte order of other machines: "
            'x.astype(x.dtype.newbyteorder("=")) converts them'
        )
    return str(array.dtype).removeprefix("torch.")


def _dtype_name(dtype: Any) -> str:
    if str(dtype).startswith("torch."):
        return str(dtype).removeprefix("torch.")
    try:
        return str(np.dtype(dtype))
    except (TypeError, ValueError):
        raise _facesat.ArgumentError(f"dtype must be a type of elements, not {dtype!r}") from None


def _table_type(given: Any, x: Any, dtype: Any, out: Any, squares: bool) -> str:
    """The name of the type of the table's elements."""
    name = _type_name(x)
    if name not in TABLES:
        remark = "" if hasattr(given, "dtype") else (
            f", which NumPy chooses for this {type(given).__name__}: numpy.array(x, numpy.int32) is one of int32"
        )  # fmt: skip
        raise _facesat.ArgumentError(f"integral images are of {', '.join(TABLES)}, not of {name}{remark}")
    if squares and name not in WITH_SQUARES:
        raise _facesat.ArgumentError(f"sums of squares are those of {', '.join(WITH_SQUARES)} only, not of {name}")
    tables = TABLES[name]
    wanted = [_dtype_name(dtype)] if dtype is not None else []
    if hasattr(out, "dtype"):
        wanted.append(_type_name(out))
    for table in wanted:
        if table not in tables:
            expected = " or ".join(tables)
            raise _facesat.ArgumentError(f"the table of an array of {name} must be of {expected}, not of {table}")
    if len(set(wanted)) > 1:
        raise _facesat.ArgumentError(f"dtype is {wanted[0]}, but out is of {wanted[1]}")
    return wanted[0] if wanted else tables[0]


def _has_channels(x: Any, channels_last: bool | None) -> bool:
    """Are the elements of a pixel along the last axis? Raises ArgumentError if the shape does not go with that."""
    shape = tuple(x.shape)
    if channels_last:
        if x.ndim not in (3, 4):
            raise _facesat.ArgumentError(
                f"with channels_last an array has three dimensions, or four with a batch, not {x.ndim}"
            )
        return True
    if x.ndim not in (2, 3):
        remark = ": channels_last=True takes a batch of pictures with channels" if x.ndim == 4 else ""
        raise _facesat.ArgumentError(
            f"an integral image has two dimensions, or three with a batch, not {x.ndim}{remark}"
        )
    if channels_last is None and x.ndim == 3 and 1 <= shape[2] <= 4:
        raise _facesat.ArgumentError(
            f"an array of the shape {shape} may be one picture, whose channels are summed with channels_last=True, "
            f"or a batch of {shape[0]} pictures, which are summed with channels_last=False"
        )
    return False


def _check_device(name: str, table: str, has_channels: bool) -> None:
    if has_channels:
        raise _facesat.BackendError(
            "channels_last is for arrays in host memory: on a device, sum x[..., channel] for one after the other"
        )
    if table not in DEVICE_TABLES.get(name, ()):
        other = table if table in DEVICE_TABLES else "float64"
        raise _facesat.BackendError(
            f"a device makes no tables of {table} for arrays of {name}: convert x to {other} first"
        )


def _library(x: Any) -> Any:
    """The library of an array: the module torch or cupy; else NumPy."""
    name = type(x).__module__.partition(".")[0]
    return importlib.import_module(name) if name in ("torch", "cupy") else np


def _device_table(library: Any, x: Any, name: str) -> Any:
    """A new exclusive table for x, of the same library and on the same device.

    A device writes it in place, because element (1, 1) and the rows lie on 16-byte boundaries.
    """
    *batch, height, width = x.shape
    dtype = getattr(library, name)
    size = dtype.itemsize if library.__name__ == "torch" else np.dtype(dtype).itemsize
    aligned = 16 // size
    first = aligned - 1
    pitch = -(-(width + 1) // aligned) * aligned
    count = first + (batch[0] if batch else 1) * (height + 1) * pitch
    strides = [(height + 1) * pitch] * len(batch) + [pitch, 1]
    shape = (*batch, height + 1, width + 1)
    if library.__name__ == "torch":
        return library.empty(count, dtype=dtype, device=x.device).as_strided(shape, strides, first)
    memory = library.empty(count, dtype)
    return library.ndarray(shape, dtype, memory.data + first * size, [stride * size for stride in strides])


def _contiguous(library: Any, x: Any) -> Any:
    if library.__name__ == "torch":
        return x.contiguous()
    return np.require(x, requirements=["C", "ALIGNED"]) if library is np else library.ascontiguousarray(x)


def _fill(
    x: Any, table: Any, has_channels: bool, squares: bool, exclusive: bool, algorithm: str | None, stream: Any
) -> None:
    is_batch = x.ndim == 3 + has_channels
    for one, its_table in zip(x, table) if is_batch else [(x, table)]:
        _facesat.sat(one, its_table, squares, exclusive, algorithm or "", stream)


def sat(
    x: Any,
    squares: bool = False,
    exclusive: bool = False,
    algorithm: str | None = None,
    out: Any = None,
    stream: Any = None,
    *,
    dtype: Any = None,
    channels_last: bool | None = None,
) -> Any:
    """The integral image (summed area table) of a NumPy, CuPy or PyTorch array.

    x: (height, width), or (batch, height, width); see channels_last for others.
    squares: sums of the squared elements; only of uint8, uint16 and int16.
    exclusive: with a row and a column of zeros first, as cv2.integral: one element wider and higher than x.
    algorithm: on a device, one of sat_algorithms(), or "id:value" to set its parameter; None: the fastest.
    out: the table, of the shape and type that the result would have. None: a new array.
    stream: as for Detector; on a device the work is only enqueued in it.
    dtype: the type of the table's elements, as below. None: that of out, or the first one.
    channels_last: True: x is (height, width, channels), or (batch, height, width, channels), and so is the table, in which
    each channel is summed by itself, as in cv2.integral's; only in host memory. False: x has no channels. None: the same,
    but an array of three dimensions whose last one is 1 to 4 is an error, because it may be a picture with channels.

    Elements of x    and of its table                                  on a device
    uint8            uint32, int32, float32, uint64, int64, float64    uint32, int32, float32
    uint16           int64, uint64, uint32, int32, float64
    int16            int64, int32, float64
    int32            int32, int64, float64                             int32
    uint32           uint32, uint64, int64, float64                    uint32
    float32          float32, float64                                  float32
    float64          float64                                           float64

    Returns the table: numpy.cumsum(numpy.cumsum(x, -2, dtype), -1, dtype) for two dimensions. Integers wrap modulo 2**32 in
    tables of 32 bits (uint8: from 16,843,010 pixels of 255 on, and squares from 66,052 on), and never in those of 64 bits;
    float64 is exact up to 2**53. On the host, floating-point tables have exactly the bits of these cumulative sums.
    """
    squares, exclusive = bool(squares), bool(exclusive)
    algorithm = None if algorithm is None else _arguments.text(algorithm, "algorithm")
    if out is not None and not hasattr(out, "shape"):
        raise _facesat.ArgumentError(f"out must be an array, not an object of type {type(out).__name__}")
    library = _library(x)
    given, x = x, _to_numpy(x) if library is np else x
    has_channels = _has_channels(x, channels_last)
    table_type = _table_type(given, x, dtype, out, squares)
    on_device = hasattr(x, "__cuda_array_interface__")
    if on_device:
        _check_device(_type_name(x), table_type, has_channels)
    first = x.ndim - 2 - has_channels  # the axis of rows
    sides = [side + exclusive for side in x.shape[first : first + 2]]
    shape = (*x.shape[:first], *sides, *x.shape[first + 2 :])
    if out is not None and tuple(out.shape) != shape:
        raise _facesat.ArgumentError(f"the table must have the shape {shape}, not {tuple(out.shape)}")
    source = _contiguous(library, x)
    if out is None and on_device:
        table = _device_table(library, source, table_type)
        _fill(source, table, False, squares, True, algorithm, stream)
        return table if exclusive else table[..., 1:, 1:]  # which is the inclusive one
    table = library.empty(shape, dtype=getattr(library, table_type)) if out is None else out
    _fill(source, table, has_channels, squares, exclusive, algorithm, stream)
    return table
