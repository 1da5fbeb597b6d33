from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import _arguments, _facesat

# The element types of arrays, and for each those of their tables.
TABLES = {
    "uint8": ("uint32", "int32", "float32"),
    "int32": ("int32",),
    "uint32": ("uint32",),
    "float32": ("float32",),
    "float64": ("float64",),
}


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


def _check_types(given: Any, x: Any, out: Any, squares: bool) -> None:
    name = _type_name(x)
    if name not in TABLES:
        remark = "" if hasattr(given, "dtype") else (
            f", which NumPy chooses for this {type(given).__name__}: numpy.array(x, numpy.int32) is one of int32"
        )  # fmt: skip
        raise _facesat.ArgumentError(f"integral images are of {', '.join(TABLES)}, not of {name}{remark}")
    if squares and name != "uint8":
        raise _facesat.ArgumentError(f"sums of squares are those of uint8 only, not of {name}")
    if hasattr(out, "dtype") and _type_name(out) not in TABLES[name]:
        expected = " or ".join(TABLES[name])
        raise _facesat.ArgumentError(f"the table of an array of {name} must be of {expected}, not of {_type_name(out)}")


def _library(x: Any) -> Any:
    """The library of an array: the module torch or cupy; else NumPy."""
    name = type(x).__module__.partition(".")[0]
    return importlib.import_module(name) if name in ("torch", "cupy") else np


def _device_table(library: Any, x: Any) -> Any:
    """A new exclusive table for x, of the same library and on the same device.

    A device writes it in place, because element (1, 1) and the rows lie on 16-byte boundaries.
    """
    *batch, height, width = x.shape
    dtype = library.uint32 if x.dtype == library.uint8 else x.dtype
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
    return x.contiguous() if library.__name__ == "torch" else library.ascontiguousarray(x)


def _fill(x: Any, table: Any, squares: bool, exclusive: bool, algorithm: str | None, stream: Any) -> None:
    for one, its_table in [(x, table)] if x.ndim == 2 else zip(x, table):
        _facesat.sat(one, its_table, squares, exclusive, algorithm or "", stream)


def sat(
    x: Any,
    squares: bool = False,
    exclusive: bool = False,
    algorithm: str | None = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The integral image (summed area table) of a NumPy, CuPy or PyTorch array.

    x: (height, width), or (batch, height, width); uint8, int32, uint32, float32 or float64.
    squares: sums of the squared elements; only of uint8.
    exclusive: with a row and a column of zeros first, as cv2.integral: one element wider and higher than x.
    algorithm: on a device, one of sat_algorithms(), or "id:value" to set its parameter; None: the fastest.
    out: the table, of the element type of x; for uint8 it is uint32 (also int32 or float32). None: a new array.
    stream: as for Detector; on a device the work is only enqueued in it.

    Returns the table: NumPy's numpy.cumsum(numpy.cumsum(x, axis=-2), axis=-1), with integers modulo 2**32. On the host, floating-point
    tables have exactly these bits.
    """
    squares, exclusive = bool(squares), bool(exclusive)
    algorithm = None if algorithm is None else _arguments.text(algorithm, "algorithm")
    if out is not None and not hasattr(out, "shape"):
        raise _facesat.ArgumentError(f"out must be an array, not an object of type {type(out).__name__}")
    library = _library(x)
    given, x = x, _to_numpy(x) if library is np else x
    if x.ndim not in (2, 3):
        raise _facesat.ArgumentError(f"an integral image has two dimensions, or three with a batch, not {x.ndim}")
    _check_types(given, x, out, squares)
    shape = (*x.shape[:-2], x.shape[-2] + exclusive, x.shape[-1] + exclusive)
    if out is not None and tuple(out.shape) != shape:
        raise _facesat.ArgumentError(f"the table must have the shape {shape}, not {tuple(out.shape)}")
    source = _contiguous(library, x)
    if out is None and library is not np:
        table = _device_table(library, source)
        _fill(source, table, squares, True, algorithm, stream)
        return table if exclusive else table[..., 1:, 1:]  # which is the inclusive one
    table = np.empty(shape, np.uint32 if x.dtype == np.uint8 else x.dtype) if out is None else out
    _fill(source, table, squares, exclusive, algorithm, stream)
    return table
