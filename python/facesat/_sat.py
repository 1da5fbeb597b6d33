from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import _facesat


def _library(x: Any) -> Any:
    """The library of an array: the module torch or cupy; else NumPy."""
    name = type(x).__module__.partition(".")[0]
    return importlib.import_module(name) if name in ("torch", "cupy") else np


def _empty_like(x: Any, shape: tuple[int, ...]) -> Any:
    """A new array for the table of x, of the same library and on the same device."""
    library = _library(x)
    dtype = library.uint32 if x.dtype == library.uint8 else x.dtype
    if library.__name__ == "torch":
        return library.empty(shape, dtype=dtype, device=x.device)
    return library.empty(shape, dtype=dtype)


def _contiguous(x: Any) -> Any:
    library = _library(x)
    return x.contiguous() if library.__name__ == "torch" else library.ascontiguousarray(x)


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
    algorithm: on a device, one of sat_algorithms(); None: the fastest.
    out: the table, of the element type of x; for uint8 it is uint32 (also int32 or float32). None: a new array.
    stream: as for Detector; on a device the work is only enqueued in it.

    Returns the table: NumPy's numpy.cumsum(numpy.cumsum(x, axis=-2), axis=-1), with integers modulo 2**32. On the host, floating-point
    tables have exactly these bits.
    """
    if not hasattr(x, "dtype"):
        x = np.asarray(x)
    if x.ndim not in (2, 3):
        raise _facesat.ArgumentError(f"an integral image has two dimensions, or three with a batch, not {x.ndim}")
    border = 1 if exclusive else 0
    shape = (*x.shape[:-2], x.shape[-2] + border, x.shape[-1] + border)
    if out is None:
        out = _empty_like(x, tuple(shape))
    elif tuple(out.shape) != tuple(shape):
        raise _facesat.ArgumentError(f"the table must have the shape {tuple(shape)}, not {tuple(out.shape)}")
    source = _contiguous(x)
    pairs = [(source, out)] if x.ndim == 2 else list(zip(source, out))
    for one, table in pairs:
        _facesat.sat(one, table, squares, exclusive, algorithm or "", stream)
    return out
