"""Arguments as the extension module takes them. Each function raises ArgumentError with the name of a wrong one."""

from __future__ import annotations

import contextlib
import math
import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._facesat import ArgumentError, backend_fields, detection_fields, sample_fields, training_fields

if TYPE_CHECKING:
    from ._facesat import Field


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


def boxes(value: Any, name: str) -> list[tuple[int, int, int, int]]:
    """Rectangles as x, y, width and height, so small that no arithmetic on them leaves 32 bits."""
    try:
        return [_box(one, name) for one in value]
    except TypeError:
        raise ArgumentError(f"{name} must be a list of rectangles, not {value!r}") from None


def _box(value: Any, name: str) -> tuple[int, int, int, int]:
    try:
        x, y, width, height = (operator.index(side) for side in value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must have four whole numbers for each rectangle, not {value!r}") from None
    most = 2**28
    if not (-most < x < most and -most < y < most and 0 <= width < most and 0 <= height < most):
        raise ArgumentError(f"{name} has a rectangle of negative or too large a size: {x}, {y}, {width} x {height}")
    return x, y, width, height


def size(value: Any, name: str) -> tuple[int, int]:
    """The size of a face: (width, height), or one number for both."""
    with contextlib.suppress(TypeError):
        value = (operator.index(value),) * 2
    width, height = two_whole(value, name, "a whole number, or two of them")
    if width < 0 or height < 0:
        raise ArgumentError(f"{name} must not be negative: {width} x {height}")
    return width, height


def number(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(f"{name} must be a number, not {value!r}")


def scale_factor(value: Any, name: str) -> float:
    factor = number(value, name)
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


def _word(value: Any, name: str, words: list[str]) -> str:
    if text(value, name) not in words:
        quoted = " or ".join(f'"{word}"' for word in words)
        raise ArgumentError(f"{name} must be {quoted}, not {value!r}")
    return str(value)


_KINDS: dict[str, Callable[[Any, str], Any]] = {
    "flag": lambda value, _: bool(value),
    "whole": whole,
    "number": number,
    "size": size,
    "text": text,
}


def options(given: dict[str, Any]) -> dict[str, Any]:
    """Options of detection and of its backend, as the extension module takes them."""
    return _checked(given, [*detection_fields(), *backend_fields()])


def training_options(given: dict[str, Any]) -> dict[str, Any]:
    """The same of a training."""
    return _checked(given, [*sample_fields(), *training_fields(), *backend_fields()])


def _checked(given: dict[str, Any], fields: list[Field]) -> dict[str, Any]:
    unknown = given.keys() - {name for name, *_ in fields}
    if unknown:
        raise ArgumentError(f"there is no option named {sorted(unknown)[0]}")
    checked: dict[str, Any] = {}
    for name, kind, words, *_ in fields:
        if name not in given or (name == "min_score" and given[name] is None):
            continue
        value = given[name]
        if name == "scale_factor":
            checked[name] = scale_factor(value, name)
        elif name == "device" and not isinstance(value, str):
            checked[name] = str(whole(value, name))
        elif name == "sat" and value is None:
            checked[name] = ""
        elif kind == "word":
            checked[name] = _word(value, name, words)
        else:
            checked[name] = _KINDS[kind](value, name)
    return checked
