"""What a job says on standard error."""

from __future__ import annotations

import sys
import time

from ._work import Counts


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def in_words(counts: Counts, seconds: float) -> str:
    failures = sum(counts.failures.values())
    parts = [_plural(counts.records, "image"), _plural(counts.faces, "face")]
    if failures:
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.failures.items()))
        parts.append(f"{_plural(failures, 'failure')} ({kinds})")
    if counts.warnings:
        parts.append(_plural(counts.warnings, "warning"))
    return f"{', '.join(parts)} in {seconds:.1f} s"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    minutes = f"{whole // 60 % 60}:{whole % 60:02}"
    return minutes if whole < 3600 else f"{whole // 3600}:{minutes:0>5}"


class Progress:
    """One line that is replaced on a terminal, and elsewhere a new one now and then."""

    def __init__(self, shown: bool, quiet: bool) -> None:
        self.start = time.monotonic()
        self.total: int | None = None
        """The number of inputs, once it is known."""
        self._shown = shown
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty()
        self._last = 0.0
        self._is_open = False

    def update(self, counts: Counts, skipped: int, is_last: bool = False) -> None:
        """skipped: how many of them earlier runs have done."""
        now = time.monotonic()
        is_soon = now - self._last < (0.2 if self._is_terminal else 1) and not is_last
        if not self._shown or is_soon:
            return
        self._last = now
        seconds = max(now - self.start, 1e-6)
        done = counts.records - skipped
        line = f"{counts.records}" + (f"/{self.total}" if self.total is not None else "")
        line += f"  {done / seconds:.1f} images/s  {_plural(counts.faces, 'face')}"
        if counts.failures:
            line += f"  {_plural(sum(counts.failures.values()), 'failure')}"
        if self.total is not None and self.total > counts.records and done > 0:
            line += f"  {_clock(seconds * (self.total - counts.records) / done)} left"
        self._erase()
        sys.stderr.write(line if self._is_terminal else line + "\n")
        sys.stderr.flush()
        self._is_open = self._is_terminal

    def say(self, sentence: str, always: bool = False) -> None:
        """A message, which -q leaves out unless it is said always."""
        if self._quiet and not always:
            return
        self._erase()
        # A file's name may have bytes of no encoding.
        text = sentence.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        sys.stderr.write(f"facesat: {text}\n")
        sys.stderr.flush()

    def finish(self) -> None:
        self._erase()

    def _erase(self) -> None:
        if self._is_open:
            sys.stderr.write("\r\033[K")
        self._is_open = False
