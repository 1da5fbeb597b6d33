from __future__ import annotations

from typing import Any

import numpy as np

from . import _arguments, _facesat
from ._sat import _contiguous, _library, _to_numpy, _type_name

OPERATORS = ("sum", "product", "minimum", "maximum", "compose")
TYPES = ("int32", "uint32", "int64", "float32", "float64")
MAP_TYPES = ("uint32", "float32")


def _check(x: Any, op: str) -> None:
    if op not in OPERATORS:
        raise _facesat.ArgumentError(f"op must be one of {', '.join(OPERATORS)}, not {op!r}")
    shape, types = tuple(x.shape), MAP_TYPES if op == "compose" else TYPES
    if op == "compose" and (x.ndim != 2 or shape[1] != 2):
        raise _facesat.ArgumentError(f"compose takes an array of maps, of the shape (n, 2), not {shape}")
    if op != "compose" and x.ndim != 1:
        raise _facesat.ArgumentError(f"a scan is of an array of one dimension, not of the shape {shape}")
    if shape[0] == 0:
        raise _facesat.ArgumentError("a scan is of at least one element")
    if _type_name(x) not in types:
        what = "maps are" if op == "compose" else "a scan is"
        raise _facesat.ArgumentError(f"{what} of {', '.join(types)}, not of {_type_name(x)}")


def _check_out(out: Any, x: Any) -> None:
    if not hasattr(out, "shape"):
        raise _facesat.ArgumentError(f"out must be an array, not an object of type {type(out).__name__}")
    if tuple(out.shape) != tuple(x.shape) or _type_name(out) != _type_name(x):
        raise _facesat.ArgumentError(
            f"the result has the shape {tuple(x.shape)} and the type {_type_name(x)}, "
            f"not {tuple(out.shape)} and {_type_name(out)}"
        )
    contiguous = out.is_contiguous() if hasattr(out, "is_contiguous") else out.flags["C_CONTIGUOUS"]
    if not contiguous:
        raise _facesat.ArgumentError("the elements of out must lie side by side")


def scan(
    x: Any,
    op: str = "sum",
    *,
    exclusive: bool = False,
    algorithm: str | None = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The prefix scan of a NumPy, CuPy or PyTorch array: element i is the combination of x[0] to x[i], in this order.

    x: of one dimension, of int32, uint32, int64, float32 or float64; with "compose" of the shape (n, 2).
    op: "sum", "product", "minimum", "maximum"; or "compose", whose elements (a, b) are maps y -> a * y + b of uint32 or
    float32, applied one after the other. [:, 1] of the scan of the maps (c, x[i]) is the recursive filter
    y[i] = c * y[i - 1] + x[i], which scipy.signal.lfilter([1], [1, -c], x) computes.
    exclusive: without x[i] itself; element 0 is what changes no other one: 0, 1, the largest or smallest value of the
    type, infinity for floating-point numbers, or the map (1, 0).
    algorithm: on a device, one of scan_algorithms(), or "id:name=value,..." to set its parameters; None: the fastest.
    out: the result, of the shape and type of x; it may be x itself. None: a new array.
    stream: as for Detector; on a device the work is only enqueued in it.

    Sums and products of integers wrap. In host memory it uses one thread.
    """
    op = _arguments.text(op, "op")
    algorithm = "" if algorithm is None else _arguments.text(algorithm, "algorithm")
    library = _library(x)
    x = _to_numpy(x) if library is np else x
    _check(x, op)
    if out is not None:
        _check_out(out, x)
    source = _contiguous(library, x)
    result = library.empty_like(source) if out is None else out
    _facesat.scan(source.reshape(1, -1), result.reshape(1, -1), op, bool(exclusive), algorithm, stream)
    return result
