"""The inputs of a job, in parts that are done, repeated and skipped as one.

A shard is a number of inputs in the order in which they are listed. Its file is named after its number and a digest of its
inputs (their names, sizes and times) and of the job's options: a file of that name has the records of exactly these.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import os
import re
from collections.abc import Iterator

from .. import _facesat
from . import _storage

_FIRST_SIZE = 25

Input = tuple[bytes, str, bytes, str]
"""Name in the records, kind ("path", "member" of an archive, "uri" or "failure"), value (or the reason of a failure), and
version of the contents."""


@dataclasses.dataclass(frozen=True)
class Shard:
    number: int
    digest: str
    inputs: list[Input]

    def file(self, extension: str) -> str:
        return f"part-{self.number:06}-{self.digest}.{extension}"

    def __str__(self) -> str:
        first, last = (os.fsdecode(self.inputs[at][0]) for at in (0, -1))
        return f"shard {self.number} ({first} ... {last})"


def part_number(file: str) -> int | None:
    """Of the shard whose file this is."""
    found = re.fullmatch(r"part-(\d{6,})-[0-9a-f]{16}\.\w+", file)
    return int(found.group(1)) if found else None


def _digest(inputs: list[Input], manifest: bytes) -> str:
    digest = hashlib.blake2b(b"%d:%b" % (len(manifest), manifest), digest_size=8)
    for name, kind, value, version in inputs:
        parts = (name, kind.encode(), version.encode(), value if kind == "failure" else b"")
        digest.update(b"".join(b"%d:%b" % (len(part), part) for part in parts))
    return digest.hexdigest()


def _list_remote(uri: str, recursive: bool) -> Iterator[Input]:
    try:
        for name, file, version in _storage.list_pictures(uri, recursive):
            yield os.fsencode(name), "uri", os.fsencode(file), version
    except _facesat.Error:
        raise
    except Exception as error:  # as for a folder that cannot be read to its end
        yield os.fsencode(uri), "failure", _storage.reason(error).encode(), ""


def _list_local(argument: str, recursive: bool, at_once: int) -> Iterator[Input]:
    inputs = _facesat.Inputs([os.fsencode(argument)], recursive)
    while found := inputs.next(at_once):
        for name, kind, path, version in found:
            if kind == "path" and _storage.is_uri(os.fsdecode(path)):  # an entry of a list
                yield name, "uri", path, ""
            else:
                yield name, kind, os.path.abspath(path) if kind == "path" else path, version


def check(arguments: list[str]) -> None:
    """Raises Error for an argument that cannot be an input, which is better known before work begins."""
    for argument in arguments:
        if _storage.is_uri(argument):
            _storage.open_uri(argument)
        elif argument.startswith("@"):
            _facesat.Inputs([os.fsencode(argument)], False)


def list_inputs(arguments: list[str], recursive: bool, at_once: int = 500) -> Iterator[Input]:
    """One after the other; a folder is read as a whole. Raises Error for an argument that is no input."""
    for argument in arguments:
        if _storage.is_uri(argument):
            yield from _list_remote(argument, recursive)
        else:
            yield from _list_local(argument, recursive, at_once)


def make_shards(inputs: Iterator[Input], size: int, manifest: bytes = b"") -> Iterator[Shard]:
    """The first ones are smaller, so that there are results soon. manifest: what else their records depend on."""
    for number in itertools.count():
        part = list(itertools.islice(inputs, min(size, _FIRST_SIZE << min(number, 32))))
        if not part:
            return
        yield Shard(number, _digest(part, manifest), part)
