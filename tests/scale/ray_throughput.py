#!/usr/bin/env python3
"""Compares the throughput of `python -m facesat.ray` with that of `facesat detect` on the same pictures and processors.

usage: ray_throughput.py FOLDER [RUNS]

The runs take turns, on a cluster of one node that has started before. Times are those of whole commands, with the start of
Python, and checked: both give the same records.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# So that `import ray` is not ray.py of this folder.
sys.path[0] = str(pathlib.Path(__file__).parents[1] / "python")


def run(*command):
    start = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - start


def records(folder):
    return b"".join(part.read_bytes() for part in sorted(pathlib.Path(folder).glob("part-*")))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    pictures, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    cpus = len(os.sched_getaffinity(0))
    import ray

    ray.init(address="local", num_cpus=cpus, include_dashboard=False, log_to_driver=False)
    address = ray.get_runtime_context().gcs_address
    ratios = []
    try:
        for number in range(runs + 1):  # the first run, which fills caches, does not count
            with tempfile.TemporaryDirectory() as folder:
                program = [sys.executable, "-m", "facesat", "detect", "--backend", "cpu", "-q", "-j", str(cpus)]
                alone = run(*program, "-r", pictures, "-o", f"{folder}/alone.jsonl")
                job = [sys.executable, "-m", "facesat.ray", "--address", address, "-q"]
                on_ray = run(*job, "-r", pictures, "-o", f"{folder}/ray")
                found = pathlib.Path(folder, "alone.jsonl").read_bytes()
                if records(f"{folder}/ray") != found:
                    sys.exit("the records differ")
                count = found.count(b"\n")
            if number > 0:
                ratios.append(alone / on_ray)
                print(
                    f"run {number}: facesat detect {count / alone:.1f} images/s, "
                    f"facesat.ray {count / on_ray:.1f} images/s, ratio {ratios[-1]:.3f}",
                    flush=True,
                )
    finally:
        ray.shutdown()
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
