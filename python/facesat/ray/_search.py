"""What is searched for and how, and the searcher that a process keeps for it."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence

from .. import _arguments, _facesat
from .._cascades import cascade_contents
from .._detector import Size

MAX_PIXELS = 250_000_000
MAX_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class Search:
    """Options as the extension module takes them. They hold the cascades' files, which so need not be on every node."""

    cascades: tuple[tuple[str, bytes], ...]
    """For each its name in the records, and its XML."""
    scale_factor: float
    min_neighbors: int
    min_size: tuple[int, int]
    max_size: tuple[int, int]
    scan: str
    equalize: bool
    backend: str
    sat: str
    luma: bool
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
    scale_factor: float = 1.1,
    min_neighbors: int = 3,
    min_size: Size = 0,
    max_size: Size = 0,
    scan: str = "opencv",
    equalize: bool = False,
    backend: str = "auto",
    sat: str | None = None,
    luma: bool = False,
    threads: int = 1,
    max_pixels: int = MAX_PIXELS,
    max_seconds: float = MAX_SECONDS,
) -> Search:
    """Raises Error with a sentence, except for what only a device can refuse."""
    if scan not in ("opencv", "dense"):
        raise _facesat.ArgumentError(f'scan must be "opencv" or "dense", not {scan!r}')
    if _arguments.whole(max_pixels, "max_pixels") < 1:
        raise _facesat.ArgumentError(f"max_pixels must be at least 1, not {max_pixels}")
    if not 0 < max_seconds <= 1e9:
        raise _facesat.ArgumentError(f"max_seconds must be more than 0 and at most 1e9, not {max_seconds}")
    given = [_arguments.path(cascade, "cascade", "a name or a path") for cascade in cascades]
    search = Search(
        tuple(zip(_names_in_records(given), map(cascade_contents, given))),
        _arguments.scale_factor(scale_factor, "scale_factor"),
        _arguments.whole(min_neighbors, "min_neighbors"),
        _arguments.size(min_size, "min_size"),
        _arguments.size(max_size, "max_size"),
        scan,
        bool(equalize),
        _arguments.text(backend, "backend"),
        "" if sat is None else _arguments.text(sat, "sat"),
        bool(luma),
        _arguments.whole(threads, "threads"),
        max_pixels,
        float(max_seconds),
    )
    make_searcher(dataclasses.replace(search, backend="cpu" if backend in ("auto", "cuda") else backend, sat=""))
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
        search.scale_factor,
        search.min_neighbors,
        search.min_size,
        search.max_size,
        search.scan == "dense",
        search.equalize,
        search.backend,
        "0",  # of those that Ray lets this process see
        search.sat,
        search.luma,
        search.threads,
        search.max_pixels,
        search.max_seconds,
    )


# A worker process runs many tasks of one job.
kept_searcher = functools.lru_cache(maxsize=1)(make_searcher)
