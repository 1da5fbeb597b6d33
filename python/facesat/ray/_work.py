"""What a worker does: one shard, from its inputs to its file."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import socket
from collections import Counter
from typing import Any

import fsspec
import pyarrow.parquet as pq

from .. import _facesat
from . import _output, _rows, _search, _storage
from ._shards import Input, Shard

MANIFEST = "_job.json"
_METADATA = b"facesat"
_MOST_MESSAGES = 20  # of one shard: all are in its records


class NodeError(_facesat.Error):
    """A node that has not what the others have."""


@dataclasses.dataclass(frozen=True)
class Job:
    """What all shards have in common."""

    output: str
    extension: str
    search: _search.Search
    manifest: bytes
    file_systems: dict[str, Any]
    """The configuration of fsspec where the job was started."""

    def folder(self) -> _output.Output:
        return _output.output_of(self.output, self.manifest)


@dataclasses.dataclass
class Counts:
    records: int = 0
    faces: int = 0
    failures: dict[str, int] = dataclasses.field(default_factory=dict)
    """By their kinds."""
    warnings: int = 0

    def add(self, other: Counts) -> None:
        self.records += other.records
        self.faces += other.faces
        self.failures = dict(Counter(self.failures) + Counter(other.failures))
        self.warnings += other.warnings


@dataclasses.dataclass(frozen=True)
class Done:
    counts: Counts
    messages: list[str]
    """What failed, at most a few."""
    remarks: list[str]
    """On devices."""


def _require_shared(job: Job, inputs: list[Input]) -> None:
    """Raises NodeError on a node that does not see the files that the job was started with."""
    node = socket.gethostname()
    try:
        is_there = job.folder().read(MANIFEST) == job.manifest
    except (FileNotFoundError, NotADirectoryError):
        is_there = False
    except Exception as error:
        raise NodeError(f"{job.output} cannot be read on node {node}: {_storage.reason(error)}") from None
    if not is_there:
        raise NodeError(
            f"{job.output} on node {node} is not the folder that the job was started with: "
            "the output must be on a file system that all nodes share"
        )
    seen = [path for _, kind, path, version in inputs if kind == "path" and version]
    if seen and not any(map(os.path.exists, seen)):
        raise NodeError(
            f"{os.fsdecode(seen[0])} does not exist on node {node}: "
            "inputs must be on a file system that all nodes share, or be given as URIs"
        )


def count(records: list[bytes]) -> Counts:
    # No text within a record contains these, because its quotes are escaped.
    counts = Counts()
    for record in records:
        counts.records += 1
        counts.faces += record.count(b'"neighbors":')
        counts.warnings += b'"warning":"' in record
        if b'"error":{' in record:
            kind = str(json.loads(record)["error"]["kind"])
            counts.failures[kind] = counts.failures.get(kind, 0) + 1
    return counts


def count_part(contents: bytes, extension: str) -> Counts | None:
    """Of a shard that is done; None if the file is none of ours."""
    if extension == "jsonl":
        return count(contents.splitlines(True)) if contents.endswith(b"\n") else None
    try:
        metadata = pq.read_metadata(io.BytesIO(contents)).metadata or {}
        return Counts(**json.loads(metadata[_METADATA]))
    except Exception:
        return None


def _file_of(records: list[bytes], job: Job, counts: Counts) -> bytes:
    if job.extension == "jsonl":
        return b"".join(records)
    table = _rows.to_table(records, job.search.names_cascades)
    table = table.replace_schema_metadata({_METADATA: json.dumps(dataclasses.asdict(counts))})
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def _messages(records: list[bytes]) -> list[str]:
    failed = [json.loads(record) for record in records if b'"error":{' in record]
    return [f"{one['image']}: {one['error']['message']}" for one in failed[:_MOST_MESSAGES]]


def do_shard(job: Job, shard: Shard) -> Done:
    """May run more than once for the same shard, even at the same time: the file is the same."""
    fsspec.config.conf.update(job.file_systems)
    _require_shared(job, shard.inputs)
    searcher = _search.kept_searcher(job.search)
    records = searcher.records(_storage.with_contents((name, kind, value) for name, kind, value, _ in shard.inputs))
    counts = count(records)
    job.folder().commit(shard.file(job.extension), _file_of(records, job, counts))
    return Done(counts, _messages(records), searcher.remarks())
