"""python -m facesat."""

import json
import subprocess
import sys

import numpy as np
from pictures import FACES


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "facesat", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def test_detect_writes_records(tmp_path):
    (tmp_path / "faces.pgm").write_bytes(b"P5\n%d %d\n255\n" % FACES.shape[::-1] + FACES.tobytes())
    done = run("detect", "--backend", "cpu", "--cascade", "lbp:frontalface", "faces.pgm", "none.png", cwd=tmp_path)
    assert done.returncode == 1  # one input failed
    faces, failure = map(json.loads, done.stdout.splitlines())
    import facesat

    expected = facesat.Detector("lbp:frontalface", "cpu")(np.ascontiguousarray(FACES))
    assert [
        [face[side] for side in ("x", "y", "width", "height")] for face in faces["faces"]
    ] == sorted(expected.boxes.tolist(), key=lambda box: (box[1], box[0]))
    assert "error" in failure


def test_info_and_cascades():
    assert run("info").stdout.startswith("facesat ")
    names = run("cascades").stdout
    assert "frontalface_default" in names and "lbp:profileface" in names
    assert run("nonsense").returncode == 2


def test_a_closed_pipe_ends_it_quietly():
    done = subprocess.run(
        f"{sys.executable} -m facesat cascades | head -1", check=False, shell=True, capture_output=True, timeout=60
    )
    assert done.stderr == b""
