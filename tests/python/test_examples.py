"""The examples that need neither a camera nor a GPU."""

import pathlib
import subprocess
import sys

import cv2
import facesat
from pictures import FACES

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], check=False, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_drop_in_prints_the_faces_and_draws_them(tmp_path):
    cv2.imwrite(str(tmp_path / "faces.png"), FACES)
    status, lines, _ = run("drop_in.py", tmp_path / "faces.png", tmp_path / "boxes.png")
    expected = [face[:4] for face in facesat.Detector()(FACES)]
    assert status == 0 and expected
    assert sorted(tuple(map(int, line.split())) for line in lines) == sorted(expected)
    assert (cv2.imread(str(tmp_path / "boxes.png")) == (0, 255, 0)).all(axis=-1).any()
    assert run("drop_in.py", tmp_path / "none.png", tmp_path / "boxes.png")[0] == 1


def test_folder_goes_on_after_a_broken_picture(tmp_path):
    cv2.imwrite(str(tmp_path / "a.png"), FACES)
    (tmp_path / "b.jpg").write_bytes(b"this is no picture")
    cv2.imwrite(str(tmp_path / "c.jpg"), FACES)
    status, lines, errors = run("folder.py", tmp_path)
    assert (status, errors) == (0, "")
    assert [line.split(":")[0] for line in lines] == ["a.png", "b.jpg", "c.jpg"]
    assert lines[0].startswith(f"a.png: {len(facesat.Detector()(FACES))} ")
