"""The examples. The one for CuPy is in test_device.py."""

import pathlib
import runpy
import subprocess
import sys

import cv2
import facesat
import numpy as np
import pytest
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
    cv2.imwrite(str(tmp_path / "c.JPG"), FACES)
    cv2.imwrite(str(tmp_path / "d.Jpeg"), FACES)
    (tmp_path / "notes.txt").write_text("this is no picture")
    status, lines, errors = run("folder.py", tmp_path)
    assert (status, errors) == (0, "")
    assert [line.split(":")[0] for line in lines] == ["a.png", "b.jpg", "c.JPG", "d.Jpeg"]
    assert lines[0].startswith(f"a.png: {len(facesat.Detector()(FACES))} ")


def test_folder_names_a_folder_that_does_not_exist(tmp_path):
    status, _, errors = run("folder.py", tmp_path / "none")
    assert status == 1 and errors == f"{tmp_path / 'none'} is not a folder\n"


def frames_of(video):
    capture = cv2.VideoCapture(str(video))
    while True:
        is_there, frame = capture.read()
        if not is_there:
            return
        yield frame


@pytest.fixture
def shown(monkeypatch):
    """The frames that a program shows in its window."""
    frames = []
    monkeypatch.setattr(cv2, "imshow", lambda title, frame: frames.append(frame))
    monkeypatch.setattr(cv2, "waitKey", lambda delay: -1)
    return frames


def run_webcam(monkeypatch, source):
    monkeypatch.setattr(sys, "argv", ["webcam.py", str(source)])
    runpy.run_path(str(EXAMPLES / "webcam.py"), run_name="__main__")


def test_webcam_shows_every_frame_with_its_boxes(tmp_path, monkeypatch, shown):
    video = tmp_path / "faces.avi"
    writer = cv2.VideoWriter(str(video), cv2.VideoWriter_fourcc(*"MJPG"), 10, FACES.shape[::-1])
    for shift in (0, 20, 40):
        writer.write(cv2.cvtColor(np.roll(FACES, shift, 1), cv2.COLOR_GRAY2BGR))
    writer.release()
    expected = list(frames_of(video))
    assert len(expected) == 3
    detector = facesat.Detector(min_size=40)
    for frame in expected:
        faces = detector(frame)
        assert len(faces) > 0
        for x, y, width, height in faces.boxes.tolist():
            cv2.rectangle(frame, (x, y), (x + width, y + height), (0, 255, 0), 2)
    run_webcam(monkeypatch, video)
    assert np.array_equal(shown, expected)
    monkeypatch.setattr(cv2, "waitKey", lambda delay: ord("q"))
    run_webcam(monkeypatch, video)
    assert len(shown) == len(expected) + 1


def test_webcam_names_a_source_that_cannot_be_opened(tmp_path, monkeypatch, shown):
    with pytest.raises(SystemExit, match="none.avi cannot be opened"):
        run_webcam(monkeypatch, tmp_path / "none.avi")
    assert not shown
