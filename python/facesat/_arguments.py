"""Arguments as the extension module takes them. Each function raises ArgumentError with the name of a wrong one."""

from __future__ import annotations

import contextlib
import math
import operator
import os
from typing import Any

from ._facesat import ArgumentError


def whole(value: Any, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} must be a whole number, not {value!r}") from None
    if not -(2**31) <= number < 2**31:
        raise ArgumentError(f"{name} must be a whole number of 32 bits, not {number}")
    return number


def two_whole(value: Any, name: str, expected: str = "two whole numbers") -> tuple[int, int]:
    try:
        width, height = value
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be {expected}, not {value!r}") from None
    return whole(width, name), whole(height, name)


def size(value: Any, name: str) -> tuple[int, int]:
    """The size of a face: (width, height), or one number for both."""
    with contextlib.suppress(TypeError):
        value = (operator.index(value),) * 2
    width, height = two_whole(value, name, "a whole number, or two of them")
    if width < 0 or height < 0:
        raise ArgumentError(f"{name} must not be negative: {width} x {height}")
    return width, height


def scale_factor(value: Any, name: str) -> float:
    try:
        factor = math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number, not {value!r}") from None
    if math.isnan(factor) or factor <= 1:
        raise ArgumentError(f"{name} must be a number greater than 1, not {value!r}")
    return factor


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{name} must be a string, not {value!r}")
    return value


def path(value: Any, name: str, expected: str = "a path") -> str:
    found = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(found, str):
        raise ArgumentError(f"{name} must be {expected}, not {value!r}")
    return found
