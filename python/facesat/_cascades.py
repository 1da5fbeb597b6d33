"""Cascade files by their names."""

from __future__ import annotations

import difflib
import os
import warnings

from . import _facesat
from .data import cascade_names, haarcascades, lbpcascades

_extensions = (".xml", ".yml", ".yaml", ".json", ".gz")


def _file_of(name: str) -> str:
    """Of a name of cascade_names()."""
    if name.startswith("lbp:"):
        return os.path.join(lbpcascades, f"lbpcascade_{name[len('lbp:') :]}.xml")
    return os.path.join(haarcascades, f"haarcascade_{name}.xml")


def _suggestion(name: str) -> str:
    """For a name or path that leads nowhere: a sentence with the nearest name, if there is one."""
    stem = os.path.basename(name)
    for extension in (".gz", *_extensions):
        stem = stem.removesuffix(extension)
    stem = stem.removeprefix("haarcascade_")
    if stem.startswith("lbpcascade_"):
        stem = "lbp:" + stem.removeprefix("lbpcascade_")
    nearest = difflib.get_close_matches(stem, cascade_names(), 1)
    return f'; there is a cascade named "{nearest[0]}"' if nearest else ""


def cascade_file(name: str) -> str:
    """The path of a cascade with this name if there is no such file; else the path itself."""
    return _file_of(name) if name in cascade_names() and not os.path.isfile(name) else name


def cascade_contents(name: str) -> bytes:
    """The contents of a file, or of the cascade of this name if there is no such file. Raises CascadeError."""
    path = cascade_file(name)
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        if os.sep in name or name.endswith(_extensions):
            what = f"{name}: there is no such file"
        else:
            what = f'there is no cascade named "{name}", and no such file'
        raise _facesat.CascadeError(
            f"{what}{_suggestion(name)} (facesat.cascade_names() lists the names of all)"
        ) from None
    except (OSError, ValueError) as error:
        raise _facesat.CascadeError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def load_cascade(name: str | bytes) -> _facesat.Cascade:
    """A cascade by its name or path, or from the contents of a file. Raises CascadeError, and warns of what suggests that the
    file is damaged."""
    cascade = (
        _facesat.cascade_from_bytes(name, "cascade")
        if isinstance(name, bytes)
        else _facesat.cascade_from_bytes(cascade_contents(name), name)
    )
    warn_of(cascade, stacklevel=4)
    return cascade


def warn_of(cascade: _facesat.Cascade, stacklevel: int) -> None:
    for warning in cascade.warnings:
        warnings.warn(warning, RuntimeWarning, stacklevel=stacklevel)
