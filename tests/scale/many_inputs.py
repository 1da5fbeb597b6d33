#!/usr/bin/env python3
"""many_inputs.py PROGRAM [COUNT]: a run over COUNT pictures (a million) begins at once and has bounded memory.

Measures the time to the first record, the time of --resume when everything is done, and the peak memory of each run.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MOST_MEMORY = 1 << 30  # bytes
MOST_SECONDS_TO_FIRST = 10
MOST_SECONDS_TO_RESUME = 60


class Run:
    """A run of the program, from its start to its end."""

    def __init__(self, program: str, folder: pathlib.Path, *options: str) -> None:
        self.output = folder / "faces.jsonl"
        start = time.monotonic()
        command = [program, "detect", "-q", "--min-size", "9000", "-o", str(self.output), *options,
                   f"@{folder}/list.txt"]
        process = subprocess.Popen(command)
        while not self.has_records() and time.monotonic() - start <= MOST_SECONDS_TO_FIRST:
            time.sleep(0.01)
        self.first = time.monotonic() - start
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status = process.returncode
        self.seconds = time.monotonic() - start
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024

    def has_records(self) -> bool:
        return self.output.exists() and self.output.stat().st_size > 0

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.processor_seconds:.1f} s of processors), {self.memory / 2**20:.0f} MiB"


def main() -> int:
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"Making {count} pictures", flush=True)
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("make_inputs.py"), name, str(count)], check=True)
        with open(folder / "list.txt", "a") as paths:
            paths.write(f"{folder}/missing.jpg\n")  # so that the journal stays
        first = Run(program, folder)
        print(f"The first run: {first}; its first record after {first.first:.2f} s", flush=True)
        before = first.output.read_bytes()
        again = Run(program, folder, "--resume")
        print(f"--resume, everything is done: {again}", flush=True)
        if before.count(b"\n") != count + 1 or again.output.read_bytes() != before:
            failures.append("the records are not those of the inputs")
        if first.status != 1 or again.status != 1:
            failures.append("the missing picture is no failure")
        if first.first > MOST_SECONDS_TO_FIRST:
            failures.append(f"the first record took more than {MOST_SECONDS_TO_FIRST} s")
        if again.processor_seconds > MOST_SECONDS_TO_RESUME:  # which other load does not change
            failures.append(f"--resume took more than {MOST_SECONDS_TO_RESUME} s")
        if max(first.memory, again.memory) > MOST_MEMORY:
            failures.append(f"more memory than {MOST_MEMORY >> 20} MiB")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


sys.exit(main())
