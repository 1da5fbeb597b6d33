"""The job: lists inputs, hands shards to workers, and keeps account of what is done."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import fsspec
import ray
import ray.exceptions

from .. import _facesat
from . import _output, _shards, _storage, _work
from ._options import Options, UsageError
from ._output import OutputError
from ._progress import Progress, in_words
from ._shards import Shard
from ._work import NodeError

__all__ = ["NodeError", "OutputError", "run"]

_LISTED_AHEAD = 16  # shards
_MOST_MESSAGES = 200
_PATIENCE = 5  # seconds that a thread may take to end


class _Listing:
    """Lists shards in another thread, a few ahead, until it is left."""

    def __init__(self, shards: Iterator[Shard]) -> None:
        self._found: queue.Queue[Shard | BaseException | None] = queue.Queue(_LISTED_AHEAD)
        self._is_done = False
        self._is_left = False
        self._thread = threading.Thread(target=self._list, args=[shards], daemon=True)

    def __enter__(self) -> _Listing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_left = True
        self._thread.join(_PATIENCE)

    def _list(self, shards: Iterator[Shard]) -> None:
        try:
            for shard in shards:
                self._put(shard)
                if self._is_left:
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)

    def _put(self, found: Shard | BaseException | None) -> None:
        while not self._is_left:
            with contextlib.suppress(queue.Full):
                self._found.put(found, timeout=0.1)
                return

    @property
    def is_done(self) -> bool:
        """Has the last shard been taken?"""
        return self._is_done

    def take(self, seconds: float) -> Shard | None:
        """The next shard; None if it is not found within that time, or there is none."""
        if self._is_done:
            return None
        try:
            found = self._found.get(timeout=seconds) if seconds > 0 else self._found.get_nowait()
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        self._is_done = found is None
        return found


class _Counting:
    """Counts local inputs in another thread, for the progress, until it is left."""

    def __init__(self, options: Options, progress: Progress) -> None:
        self._progress = progress
        self._is_left = False
        self._thread = threading.Thread(target=self._count, args=[options], daemon=True)
        self._is_wanted = options.shows_progress() and not any(map(_storage.is_uri, options.inputs))

    def __enter__(self) -> None:
        if self._is_wanted:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_left = True
        if self._is_wanted:
            self._thread.join(_PATIENCE)

    def _count(self, options: Options) -> None:
        at_once, total = 10_000, 0
        with contextlib.suppress(_facesat.Error):  # the listing itself reports it
            inputs = _facesat.Inputs([os.fsencode(one) for one in options.inputs], options.recursive)
            while not self._is_left:
                found = inputs.skip(at_once)
                total += found
                if found < at_once:
                    self._progress.total = total
                    return


def _take_up(output: _output.Output, options: Options) -> list[str]:
    """The files of a folder, which is made for this job, or is that of an earlier run of the same."""
    try:
        output.prepare()
        names = output.names()
    except Exception as error:
        raise UsageError(f"{options.output}: {_storage.reason(error)}") from None
    expected = options.manifest()
    if _work.MANIFEST not in names:
        if not all(map(_output.is_temporary, names)):
            raise UsageError(f"{options.output} is not empty, and no job of facesat: name another folder")
        output.commit(_work.MANIFEST, expected)
        return names
    try:
        earlier: dict[str, Any] = dict(json.loads(output.read(_work.MANIFEST)))
    except (ValueError, TypeError):
        raise UsageError(f"{options.output}/{_work.MANIFEST} is damaged: name another folder") from None
    for option, value in json.loads(expected).items():
        if earlier.get(option) != value:
            raise UsageError(
                f"{options.output} was begun with other options: {option} was {json.dumps(earlier.get(option))}, "
                f"now it is {json.dumps(value)}; name another folder, or delete this one to begin anew"
            )
    return names


class _Run:
    def __init__(self, options: Options, output: _output.Output, files: list[str], progress: Progress) -> None:
        self._options = options
        self._output = output
        self._progress = progress
        self._files = set(files)
        """That earlier runs have left."""
        self._stale: list[str] = []
        """Those whose shards have other records now. They stay until all of these are there."""
        self._by_number: dict[int, list[str]] = {}
        for file in files:
            number = _shards.part_number(file)
            if number is not None:
                self._by_number.setdefault(number, []).append(file)
        self._counts = _work.Counts()
        self._skipped = self._skipped_shards = 0
        self._said = 0
        self._remarks: set[str] = set()
        self._broken: list[str] = []
        self._in_flight: dict[Any, Shard] = {}
        job = _work.Job(options.output, options.format, options.search, options.manifest(), dict(fsspec.config.conf))
        self._job = ray.put(job)
        self._task = ray.remote(_work.do_shard).options(
            num_cpus=options.num_cpus,
            num_gpus=options.num_gpus,
            max_retries=options.retries,  # of tasks whose worker or node died
            name="facesat.ray",
        )

    def _slots(self) -> int:
        """As many shards as are wanted at the workers: twice what they can do at once, so that none waits."""
        resources = ray.cluster_resources()
        slots = resources.get("CPU", 0) / self._options.num_cpus
        if self._options.num_gpus > 0:
            slots = min(slots, resources.get("GPU", 0) / self._options.num_gpus)
        return max(2, 2 * int(slots))

    def run(self, listing: _Listing) -> int:
        """Returns the exit status."""
        slots, next_look = self._slots(), time.monotonic() + 5
        while self._in_flight or not listing.is_done:
            if time.monotonic() > next_look:  # nodes come and go
                slots, next_look = self._slots(), time.monotonic() + 5
            while len(self._in_flight) < slots:
                shard = listing.take(0 if self._in_flight else 0.5)
                if not shard:
                    break
                self._begin(shard)
            self._collect(0.2)
            self._progress.update(self._counts, self._skipped)
        return self._end()

    def _begin(self, shard: Shard) -> None:
        """Skips a shard that is done, and hands any other one to a worker."""
        file = shard.file(self._options.format)
        stale = [other for other in self._by_number.pop(shard.number, []) if other != file]
        self._stale += stale
        if file in self._files:
            counts = _work.count_part(self._output.read(file), self._options.format)
            if counts and counts.records == len(shard.inputs):
                self._counts.add(counts)
                self._skipped += counts.records
                self._skipped_shards += 1
                return
        elif stale and not self._options.redo_changed:
            raise UsageError(
                f"inputs or options were added, removed or changed since {shard} was done: "
                "--redo-changed does such shards anew; or name another output folder"
            )
        self._in_flight[self._task.remote(self._job, shard)] = shard

    def _collect(self, seconds: float) -> None:
        if not self._in_flight:
            return
        every = list(self._in_flight)
        if not ray.wait(every, num_returns=1, timeout=seconds)[0]:
            return
        ready, _ = ray.wait(every, num_returns=len(every), timeout=0)
        for reference in ready:
            shard = self._in_flight.pop(reference)
            try:
                done: _work.Done = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise error.cause if isinstance(error.cause, Exception) else error
            except ray.exceptions.RayError as error:
                # Others may succeed, and the next start tries this one again.
                self._broken.append(f"{shard} could not be done: {str(error).splitlines()[0]}")
                self._progress.say(self._broken[-1], always=True)
                continue
            self._counts.add(done.counts)
            for remark in done.remarks:
                if remark not in self._remarks and len(self._remarks) < _MOST_MESSAGES:
                    self._remarks.add(remark)
                    self._progress.say(remark)
            for message in done.messages:
                self._said += 1
                if self._said <= _MOST_MESSAGES:
                    self._progress.say(message)

    def _end(self) -> int:
        self._progress.update(self._counts, self._skipped, is_last=True)
        self._progress.finish()
        beyond = [file for files in self._by_number.values() for file in files]
        if beyond and not self._options.redo_changed:
            raise UsageError(
                f"{len(beyond)} shards that were done have no inputs any more: "
                "--redo-changed deletes their records; or name another output folder"
            )
        if not self._broken:
            for file in [*self._stale, *beyond, *self._output.temporaries()]:
                self._output.remove(file)
        failures = sum(self._counts.failures.values())
        if failures > min(self._said, _MOST_MESSAGES) and not self._options.quiet:
            self._progress.say("the records have the other failures")
        self._progress.say(in_words(self._counts, time.monotonic() - self._progress.start))
        if self._skipped:
            self._progress.say(f"{self._skipped} of the images ({self._skipped_shards} shards) were done already")
        if self._broken:
            self._progress.say(f"shards that could not be done: {len(self._broken)}; start it again", always=True)
            return 3
        return 1 if failures else 0


def _warn_of_missing_resources(options: Options, progress: Progress) -> None:
    for node in ray.nodes():
        has: dict[str, float] = node["Resources"] if node["Alive"] else {}
        if has.get("CPU", 0) >= options.num_cpus and has.get("GPU", 0) >= min(options.num_gpus, 1):
            return
    gpus = f" and {options.num_gpus:g} GPUs" if options.num_gpus else ""
    progress.say(f"no node has {options.num_cpus} CPUs{gpus}: waiting for one", always=True)


def run(options: Options) -> int:
    """Needs a connection to a cluster. Returns the exit status."""
    progress = Progress(options.shows_progress(), options.quiet)
    manifest = options.manifest()
    output = _output.output_of(options.output, manifest)
    _shards.check(options.inputs)
    shards = _shards.make_shards(_shards.list_inputs(options.inputs, options.recursive), options.shard_size, manifest)
    with _Listing(shards) as listing:
        files = _take_up(output, options)
        _warn_of_missing_resources(options, progress)
        with _Counting(options, progress):
            return _Run(options, output, files, progress).run(listing)
