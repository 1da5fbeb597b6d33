"""python -m facesat.ray: finds faces in many pictures on a Ray cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType
from typing import Any

import ray
import ray.exceptions

from .. import _facesat
from . import _job, _options


def _connect(address: str | None) -> None:
    # Ray would count the processors of the machine, not those that this process may use.
    cpus = len(os.sched_getaffinity(0))
    os.environ.setdefault("RAY_DISABLE_DOCKER_CPU_WARNING", "1")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address != "local":
        try:
            ray.init(address=address or os.environ.get("RAY_ADDRESS") or "auto", **quiet)
            return
        except ConnectionError:
            if address or os.environ.get("RAY_ADDRESS"):
                raise
    ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)


def main() -> int:
    interruptions = []  # Ray passes on the exception, but not what is in it

    def interrupt(number: int, frame: FrameType | None) -> None:
        interruptions.append(number)
        raise KeyboardInterrupt

    def fail(error: BaseException | str, status: int) -> int:
        print(f"facesat: {error}", file=sys.stderr)
        return status

    try:
        options = _options.parse(sys.argv[1:])
        try:
            _connect(options.address)
        except (ConnectionError, ValueError) as error:
            return fail(f"there is no Ray cluster to connect to: {error}", 2)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, interrupt)
        resources = ray.cluster_resources()
        options = _options.with_cpus(options, resources.get("CPU", 0), resources.get("GPU", 0))
        return _job.run(options)
    except KeyboardInterrupt:
        return fail("interrupted; the same command goes on from here", 128 + (interruptions or [signal.SIGINT])[0])
    except (_facesat.DeviceError, _facesat.OutOfMemory, _job.OutputError, _job.NodeError) as error:
        return fail(error, 3)
    except _facesat.Error as error:
        return fail(error, 2)
    except (OSError, ray.exceptions.RayError) as error:
        return fail(" ".join(str(error).split()), 3)


if __name__ == "__main__":
    sys.exit(main())
