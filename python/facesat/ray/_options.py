"""The command line of the job."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from .. import _facesat
from . import _search, _storage

SHARD_SIZE = 500
_NEWER = {"min_score": -sys.float_info.max, "inside_of": "", "only_with_inner": False}
"""Left out of manifests while they have no effect: jobs of earlier versions lack them."""


class UsageError(_facesat.Error):
    """A command line that cannot be followed."""


@dataclasses.dataclass(frozen=True)
class Options:
    inputs: list[str]
    output: str
    """A URI, or an absolute path."""
    recursive: bool
    format: str
    shard_size: int
    search: _search.Search
    num_cpus: int
    num_gpus: float
    retries: int
    address: str | None
    redo_changed: bool
    quiet: bool
    progress: str

    def shows_progress(self) -> bool:
        return not self.quiet and (self.progress == "on" or (self.progress == "auto" and sys.stderr.isatty()))

    def manifest(self) -> bytes:
        """All that records depend on: a run with another one is another job."""
        search, options = self.search, dict(self.search.options)
        values = {
            "facesat": "job",
            "INPUT": [one if _storage.is_uri(one) else _absolute(one) for one in self.inputs],
            "--recursive": self.recursive,
            "--format": self.format,
            "--shard-size": self.shard_size,
            "--cascade": [f"{name} {hashlib.sha256(xml).hexdigest()[:16]}" for name, xml in search.cascades],
            **{
                _option(name): _text(options[name])
                for name, *_ in _facesat.detection_fields()
                if name not in _NEWER or options[name] != _NEWER[name]
            },
            "--luma": options["luma"],
            "--max-pixels": search.max_pixels,
            "--max-seconds": search.max_seconds,
        }
        return (json.dumps(values, indent=1) + "\n").encode()


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _text(value: Any) -> Any:
    return "{}x{}".format(*value) if isinstance(value, tuple) else value


def _absolute(argument: str) -> str:
    prefix = "@" if argument.startswith("@") else ""
    return prefix + os.path.abspath(argument[len(prefix) :])


def _whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f'expected a whole number of at least {least}, not "{text}"')
        return int(text)

    return parse


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not (0 <= share <= 1 or share == int(share)) or share < 0:
        raise argparse.ArgumentTypeError(f'expected a fraction of a GPU, or a whole number, not "{text}"')
    return share


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f'expected N or WxH, not "{text}"')
    return int(found.group(1)), int(found.group(2) or found.group(1))


def _add_field(add: Callable[..., Any], field: _facesat.Field) -> None:
    """An option that is not given stays out of the result, so that its default is the library's."""
    name, kind, words, _, shown, text = field
    common = {"default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
    if kind == "flag":
        add(_option(name), action="store_true", **common)
    elif kind == "word":
        add(_option(name), choices=words, **common)
    else:
        parse = {"whole": _whole(0), "number": float, "size": _size, "text": str}[kind]
        add(_option(name), type=parse, metavar=shown, **common)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m facesat.ray",
        description="Finds faces in many pictures on a Ray cluster: that of --address or RAY_ADDRESS, one that runs on "
        "this machine, or else a local one for this job. The same command goes on where an earlier one was ended.",
        epilog="Exit status: 0 every input processed, 1 some input failed (its record says why), 2 wrong usage, "
        "3 a device, a shard or the output failed.",
    )
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT", help="files, folders, @LIST of paths, or URIs (s3://bucket/folder)")
    add("-o", "--output", required=True, metavar="DIR", help="a folder for the results, or a URI")
    add("--format", choices=("jsonl", "parquet"), default="jsonl", help="of the results [%(default)s]")
    add("--shard-size", type=_whole(1), default=SHARD_SIZE, metavar="N", help="inputs per shard [%(default)s]")
    add("-r", "--recursive", action="store_true", help="descend into folders")
    add("--redo-changed", action="store_true", help="do shards anew whose inputs have changed since they were done")

    add = parser.add_argument_group("cluster").add_argument
    add("--address", metavar="ADDRESS", help='of the cluster, as for ray.init(); "local": one for this job')
    add(
        "--num-cpus",
        type=_whole(1),
        metavar="N",
        help="per shard; as many threads work on it [1; with GPUs their part]",
    )
    add("--num-gpus", type=_share, default=0.0, metavar="F", help="per shard, such as 1 or 0.5 [0: the CPU]")
    add("--retries", type=_whole(0), default=5, metavar="N", help="of a shard whose worker or node died [%(default)s]")

    add = parser.add_argument_group("detection, as for 'facesat detect'; on GPUs only with --num-gpus").add_argument
    add("--cascade", action="append", metavar="NAME|FILE", help="repeatable [frontalface_default]")
    for field in [*_facesat.backend_fields(), *_facesat.detection_fields()]:
        if field[0] != "device":  # Ray assigns them
            _add_field(add, field)
    add("--raw", action="store_true", help="windows before grouping (--min-neighbors 0)")
    add("--luma", action="store_true", help="read only the luma of JPEGs: faster, and faces may differ a little")
    add(
        "--max-pixels",
        type=_whole(1),
        default=_search.MAX_PIXELS,
        metavar="N",
        help="refuse larger pictures [%(default)s]",
    )
    add(
        "--max-seconds", type=float, default=_search.MAX_SECONDS, metavar="S", help="give up on a picture [%(default)g]"
    )

    add = parser.add_argument_group("messages").add_argument
    add("--progress", choices=("auto", "on", "off"), default="auto", help="auto: on a terminal [%(default)s]")
    add("-q", "--quiet", action="store_true", help="no summary, and no message that is in the results too")
    return parser


def parse(arguments: list[str]) -> Options:
    """Ends the program with status 2 for a wrong command line, or raises Error."""
    given = _parser().parse_args(arguments)
    if "-" in given.inputs:
        raise UsageError("a list on standard input cannot be read again by the next start: give a file, as @FILE")
    names = [name for name, *_ in [*_facesat.backend_fields(), *_facesat.detection_fields()]]
    options = {name: getattr(given, name) for name in names if hasattr(given, name)}
    if options.get("backend") == "cuda" and given.num_gpus == 0:
        raise UsageError("--backend cuda needs --num-gpus, so that Ray assigns GPUs to shards")
    if given.num_gpus == 0:
        options["backend"] = "cpu"
    if given.raw:
        options["min_neighbors"] = 0
    search = _search.make_search(
        given.cascade or ["frontalface_default"],
        **options,
        luma=given.luma,
        max_pixels=given.max_pixels,
        max_seconds=given.max_seconds,
    )
    output = given.output.removeprefix("file://")
    return Options(
        inputs=[one.removeprefix("file://") for one in given.inputs],
        output=output if _storage.is_uri(output) else os.path.abspath(output),
        recursive=given.recursive,
        format=given.format,
        shard_size=given.shard_size,
        search=search,
        num_cpus=given.num_cpus or 0,
        num_gpus=given.num_gpus,
        retries=given.retries,
        address=given.address,
        redo_changed=given.redo_changed,
        quiet=given.quiet,
        progress=given.progress,
    )


def with_cpus(options: Options, cpus: float, gpus: float) -> Options:
    """With the CPUs per shard, on a cluster with that many: one, or the part that belongs to the GPUs of a shard."""
    share = int(cpus * options.num_gpus / gpus) if options.num_gpus > 0 and gpus > 0 else 1
    per_shard = options.num_cpus or max(1, share)
    return dataclasses.replace(
        options, num_cpus=per_shard, search=dataclasses.replace(options.search, threads=per_shard)
    )
