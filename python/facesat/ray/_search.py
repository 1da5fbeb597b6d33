"""What is searched for and how, and the searcher that a process keeps for it."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import Any

from .. import _arguments, _facesat
from .._cascades import cascade_contents

MAX_PIXELS = 250_000_000
MAX_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class Search:
    """Options as the extension module takes them. They hold the cascades' files, which so need not be on every node."""

    cascades: tuple[tuple[str, bytes], ...]
    """For each its name in the records, and its XML."""
    options: tuple[tuple[str, Any], ...]
    """Of detection and of its backend, by their names, and luma."""
    threads: int
    max_pixels: int
    max_seconds: float

    @property
    def names_cascades(self) -> bool:
        """Do faces name their cascade? As in the program, only if there are several."""
        return len(self.cascades) > 1


def make_search(
    cascades: Sequence[str | os.PathLike[str]],
    *,
    luma: bool = False,
    threads: int = 1,
    max_pixels: int = MAX_PIXELS,
    max_seconds: float = MAX_SECONDS,
    **options: Any,
) -> Search:
    """Of the options of facesat.Detector. Raises Error with a sentence, except for what only a device can refuse."""
    defaults = {
        name: default for name, _, _, default, _, _ in [*_facesat.detection_fields(), *_facesat.backend_fields()]
    }
    for name in options:
        if name not in defaults:
            raise _facesat.ArgumentError(f"there is no option named {name!r}")
    if _arguments.whole(max_pixels, "max_pixels") < 1:
        raise _facesat.ArgumentError(f"max_pixels must be at least 1, not {max_pixels}")
    if not 0 < max_seconds <= 1e9:
        raise _facesat.ArgumentError(f"max_seconds must be more than 0 and at most 1e9, not {max_seconds}")
    given = [_arguments.path(cascade, "cascade", "a name or a path") for cascade in cascades]
    search = Search(
        tuple(zip(_names_in_records(given), map(cascade_contents, given))),
        tuple({**_arguments.options({**defaults, **options}), "luma": bool(luma)}.items()),
        _arguments.whole(threads, "threads"),
        max_pixels,
        float(max_seconds),
    )
    make_searcher(dataclasses.replace(search, options=(*search.options, ("backend", "cpu"), ("sat", ""))))
    return search


def _names_in_records(given: list[str]) -> list[str]:
    """As the program names cascades: the stem of a path, or the argument where two have the same name."""
    stems = [
        os.path.splitext(os.path.basename(name))[0] if name.endswith(".xml") or os.sep in name else name
        for name in given
    ]
    return [stem if stems.count(stem) == 1 else name for stem, name in zip(stems, given)]


def make_searcher(search: Search) -> _facesat.Searcher:
    return _facesat.Searcher(
        [_facesat.cascade_from_bytes(contents, name) for name, contents in search.cascades],
        [name for name, _ in search.cascades],
        dict(search.options),
        search.threads,
        search.max_pixels,
        search.max_seconds,
    )


# A worker process runs many tasks of one job.
kept_searcher = functools.lru_cache(maxsize=1)(make_searcher)
