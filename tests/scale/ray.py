#!/usr/bin/env python3
"""Kills nodes, workers and the driver of `python -m facesat.ray` on a cluster of three nodes, and counts lost and doubled records.

usage: ray.py [ROUNDS [SEED]]   (20 of each kind, seed 1)

The exit status is 0 if no record was lost or doubled.
"""

import pathlib
import random
import sys
import tempfile

# So that `import ray` is not this file.
sys.path[0] = str(pathlib.Path(__file__).parents[1] / "python")

from ray_cluster import (
    Job,
    ThreeNodes,
    kill_in_the_middle,
    lost_and_doubled,
    make_pictures,
    records,
    run_job,
    run_program,
)

KINDS = ("node", "worker", "driver")
SHARD_SIZE = 4
PICTURES = 198  # and two files that are none


def round_of(kind, cluster, seeded, pictures, expected):
    """The numbers of lost and doubled records, and the number of kills, after all that may be needed."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-r", pictures, "-o", f"{folder}/out", "--shard-size", SHARD_SIZE]
        job = Job(cluster, *arguments)
        killed = kill_in_the_middle(kind, cluster, seeded, job, f"{folder}/out", -(-(PICTURES + 2) // SHARD_SIZE))
        status, messages = job.wait()
        if kind == "driver":
            status, messages = run_job(cluster, *arguments)
        cluster.complete()
        lost, doubled = lost_and_doubled(records(f"{folder}/out"), expected)
        if status != 1:
            print(f"a {kind}: exit status {status}: {messages}")
        return lost + (status != 1), doubled, killed


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    lost_of_all = doubled_of_all = 0
    with tempfile.TemporaryDirectory() as folder:
        pictures = make_pictures(pathlib.Path(folder), PICTURES)
        _, expected = run_program("-r", pictures)
        cluster = ThreeNodes()
        try:
            for kind in KINDS:
                lost = doubled = kills = 0
                for number in range(rounds):
                    seeded = random.Random(f"{kind} {seed} {number}")
                    more_lost, more_doubled, killed = round_of(kind, cluster, seeded, pictures, expected)
                    lost, doubled, kills = lost + more_lost, doubled + more_doubled, kills + killed
                print(f"{kind}s killed: {kills} of {rounds}, records lost: {lost}, doubled: {doubled}", flush=True)
                lost_of_all += lost + (kills == 0)
                doubled_of_all += doubled
        finally:
            cluster.shutdown()
    return 1 if lost_of_all + doubled_of_all else 0


if __name__ == "__main__":
    sys.exit(main())
