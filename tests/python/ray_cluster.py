"""A Ray cluster of three nodes on this machine, jobs on it, and what kills their parts; for the tests and tests/scale/ray.py."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
from pictures import FACES
from ray.cluster_utils import Cluster

MANIFEST = "_job.json"


class ThreeNodes:
    """Of one processor each. The first one has Ray's own services, so it is never killed."""

    def __init__(self):
        # The GPUs exist only in Ray's accounts. There is no dashboard, because the tests have no use for one.
        self._options = {"num_cpus": 1, "num_gpus": 1, "object_store_memory": 80 * 2**20}
        self._cluster = Cluster(initialize_head=True, head_node_args={**self._options, "include_dashboard": False})
        self._others = []
        self.complete()

    @property
    def address(self):
        return self._cluster.address

    def complete(self):
        """Replaces nodes that were killed."""
        while len(self._others) < 2:
            self._others.append(self._cluster.add_node(**self._options))
        self._cluster.wait_for_nodes()

    def kill_node(self, random):
        """A node's own process; those of its workers end with it."""
        node = self._others.pop(random.randrange(len(self._others)))
        for info in node.all_processes["raylet"]:
            info.process.kill()
            info.process.wait()
        self._cluster.remove_node(node)

    def workers(self):
        """The processes that work on a shard now."""
        found = []
        for node in [self._cluster.head_node, *self._others]:
            for info in node.all_processes["raylet"]:
                with contextlib.suppress(psutil.Error):
                    found += [
                        child
                        for child in psutil.Process(info.process.pid).children(recursive=True)
                        if child.cmdline()[:1] == ["ray::facesat.ray"]
                    ]
        return found

    def shutdown(self):
        self._cluster.shutdown()


class Job:
    """python -m facesat.ray, in a process of its own."""

    def __init__(self, cluster, *arguments, **options):
        command = [sys.executable, "-m", "facesat.ray", "--address", cluster.address, *map(str, arguments)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)

    def wait(self):
        """The exit status and the messages."""
        _, messages = self.process.communicate(timeout=300)
        return self.process.returncode, messages


def run_job(cluster, *arguments, **options):
    return Job(cluster, *arguments, **options).wait()


def parts(folder):
    return sorted(pathlib.Path(folder).glob("part-*")) if os.path.exists(folder) else []


def records(folder):
    """The text of all shards, in the order of the inputs."""
    return b"".join(part.read_bytes() for part in parts(folder))


def run_program(*arguments, **options):
    """The exit status and the records of `facesat detect`."""
    command = [sys.executable, "-m", "facesat", "detect", "--backend", "cpu", "-q", *map(str, arguments)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, timeout=300, **options)
    return done.returncode, done.stdout


def write_picture(file, picture):
    file.write_bytes(b"P5\n%d %d\n255\n" % picture.shape[::-1] + picture.tobytes())


def make_pictures(folder, count):
    """Pictures of faces, each another one, in several folders, and two files that are none."""
    picture = np.pad(FACES, ((200, 270), (180, 190)), mode="reflect")
    for i in range(count):
        file = folder / f"{i // 40:02}" / f"{i:04}.pgm"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_picture(file, np.roll(picture, (7 * i, 13 * i), (0, 1)))
    (folder / "00" / "broken.jpg").write_bytes(b"this is no picture")
    (folder / "01" / "empty.png").write_bytes(b"")
    return folder


def kill_in_the_middle(kind, cluster, random, job, output, shards):
    """Kills a node, a worker or the driver after a number of shards. Returns whether the job was not done yet."""
    wanted = random.randrange(1, shards // 2)
    while job.process.poll() is None:
        if len(parts(output)) >= wanted:
            workers = cluster.workers()
            if kind == "node":
                cluster.kill_node(random)
            elif kind == "driver":
                job.process.kill()
            elif workers:
                with contextlib.suppress(psutil.NoSuchProcess):
                    random.choice(workers).send_signal(signal.SIGKILL)
            else:
                continue
            return len(parts(output)) < shards
        time.sleep(0.005)
    return False


def lost_and_doubled(found, expected):
    """The numbers of records that are missing, and of those that are there too often or are none of these."""
    found, expected = found.splitlines(), expected.splitlines()
    names = [json.loads(line)["image"] for line in found]
    lost = len(set(expected) - set(found))
    doubled = len(names) - len(set(names)) + len(set(found) - set(expected))
    return lost, doubled
