"""python -m facesat: the program's commands detect, info and cascades."""

import os
import signal
import sys

from ._facesat import run_program
from .data import folder


def main() -> int:
    # The program ends as other programs do if it is interrupted or nobody reads its output.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.environ.setdefault("FACESAT_CASCADES", folder)
    return run_program(["facesat", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
