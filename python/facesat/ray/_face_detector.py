from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import ray

from .. import _facesat
from . import _rows, _search, _storage


def _assigned() -> tuple[float, int]:
    """The GPUs and CPUs that this process may use."""
    everything = len(os.sched_getaffinity(0))
    if not ray.is_initialized():
        return 1, everything
    resources = ray.get_runtime_context().get_assigned_resources()
    return resources.get("GPU", 0), max(1, int(resources.get("CPU", 1)))


def _columns(batch: Any) -> list[str]:
    if isinstance(batch, pa.Table):
        return list(batch.column_names)
    return [str(name) for name in batch]


def _values(batch: Any, column: str) -> list[Any]:
    values = batch[column]
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


def _without(batch: Any, column: str) -> pa.Table:
    """The batch as a table, without this column if it has it."""
    from ray.data.block import BlockAccessor

    if isinstance(batch, dict):
        kept = {name: values for name, values in batch.items() if name != column}
        table = BlockAccessor.for_block(BlockAccessor.batch_to_block(kept)).to_arrow() if kept else pa.table({})
    else:
        table = BlockAccessor.for_block(batch).to_arrow()
    return table.drop_columns([column]) if column in table.column_names else table


class FaceDetector:
    """For ray.data: ds.map_batches(facesat.ray.FaceDetector, concurrency=4, num_cpus=2), with num_gpus=1 for GPUs.

    It takes the column `bytes` with the contents of files or, if there is none, `path` with local paths and URIs
    (s3://, gs://, ...), and adds these columns to the others, without `bytes`, for each row:

    width, height: of the picture.
    faces: a list of structs of x, y, width, height, neighbors and score, sorted by y, x, width, height.
    error: a struct of kind and message, as in the records of `facesat detect`; null where there is none.
    warning: what is wrong with a picture that could be decoded nevertheless, or null.

    Where there is an error, width, height and faces are null. No picture makes it raise.

    path_column, bytes_column: other names of these columns.
    threads: None: as many as Ray assigns CPUs to the actor.
    backend: "auto" uses a GPU if Ray assigns one (num_gpus).
    luma: read only the luma of JPEGs, as cv2.imread does with IMREAD_GRAYSCALE.
    max_pixels, max_seconds: limits for one picture.
    options: the others of facesat.Detector, such as min_size.
    """

    def __init__(
        self,
        cascade: str | os.PathLike[str] = "frontalface_default",
        backend: str = "auto",
        luma: bool = False,
        *,
        path_column: str = "path",
        bytes_column: str = "bytes",
        threads: int | None = None,
        max_pixels: int = _search.MAX_PIXELS,
        max_seconds: float = _search.MAX_SECONDS,
        **options: Any,
    ) -> None:
        gpus, cpus = _assigned()
        if backend == "auto" and gpus == 0:
            backend = "cpu"
        search = _search.make_search(
            [cascade],
            backend=backend,
            luma=luma,
            threads=cpus if threads is None else threads,
            max_pixels=max_pixels,
            max_seconds=max_seconds,
            **options,
        )
        self._searcher = _search.make_searcher(search)
        self._path_column = path_column
        self._bytes_column = bytes_column

    def _inputs(self, batch: Any) -> Iterator[_storage.Source]:
        columns = _columns(batch)
        if self._bytes_column in columns:
            for contents in _values(batch, self._bytes_column):
                try:
                    yield b"", "bytes", bytes(memoryview(contents))
                except TypeError:
                    yield b"", "failure", f"bytes are needed here, not {type(contents).__name__}".encode()
        elif self._path_column in columns:
            for path in _values(batch, self._path_column):
                if isinstance(path, str):
                    yield b"", "uri" if _storage.is_uri(path) else "path", os.fsencode(path)
                else:
                    yield b"", "failure", f"a path is needed here, not {type(path).__name__}".encode()
        else:
            raise _facesat.ArgumentError(
                f'there is no column "{self._bytes_column}" or "{self._path_column}", only: {", ".join(columns)}'
            )

    def __call__(self, batch: Any) -> pa.Table:
        """The rows of a batch (in any of Ray's formats) with their faces."""
        found = _rows.to_table(self._searcher.records(_storage.with_contents(self._inputs(batch))), False)
        given = _without(batch, self._bytes_column)
        columns = {name: given[name] for name in given.column_names}
        columns.update((name, found[name]) for name in found.column_names if name != "image")
        return pa.table(columns)
