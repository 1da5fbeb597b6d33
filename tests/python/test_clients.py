"""Programs that use cv2.CascadeClassifier do the same with facesat's in its place.

Each runs twice, in a process of its own: as it is, and with facesat's class put into cv2. This file is both the test and the
program that does that: test_clients.py cv2|facesat CLIENT PICTURE...
"""

import asyncio
import contextlib
import glob
import hashlib
import io
import os
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

PICTURES = [
    picture
    for folder in (os.environ.get("FACESAT_ALBUM", "/nowhere"), os.environ.get("FACESAT_CLIENTS_PICTURES", "/nowhere"))
    for picture in sorted(glob.glob(os.path.join(folder, "*")))
    if picture.lower().endswith((".jpg", ".jpeg", ".png"))
]
FACEDETECT = os.path.join(os.path.dirname(sys.prefix), "clients/usr/share/facedetect/facedetect")  # where ./dev puts it


def autocrop(picture):
    """The picture cropped around its last face."""
    from autocrop import Cropper

    cropped = Cropper().crop(picture)
    return cropped is not None and (cropped.shape, hashlib.sha256(cropped.tobytes()).hexdigest())


def facedetect(picture):
    """What Debian's program prints: faces in their order, the best one, the biggest one."""
    texts = []
    for options in ([], ["--best"], ["--biggest"], ["--center"]):
        sys.argv = ["facedetect", *options, picture]
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            runpy.run_path(FACEDETECT, run_name="__main__")
        texts.append(text.getvalue())
    return texts


def thumbor(picture):
    """The points that thumbor crops around."""
    from thumbor.config import Config
    from thumbor.detectors.face_detector import Detector
    from thumbor.engines.pil import Engine

    async def no_other_detector():
        pass

    context = SimpleNamespace(config=Config(), modules=SimpleNamespace(), metrics=None)
    context.request = SimpleNamespace(focal_points=[], image_url=picture, filters=[])
    context.modules.engine = Engine(context)
    with open(picture, "rb") as file:
        context.modules.engine.load(file.read(), os.path.splitext(picture)[1])
    detector = Detector(context, 0, [])
    detector.next = no_other_detector
    asyncio.run(detector.detect())
    return [point.to_dict() for point in context.request.focal_points]


def willow(picture):
    """The faces that Wagtail's image library finds."""
    from willow.image import Image

    with open(picture, "rb") as file:
        return [tuple(map(int, face)) for face in Image.open(file).detect_faces()]


def deepface(picture):
    """Faces with their eyes and scores, of deepface's backend for OpenCV."""
    import cv2
    from deepface.models.face_detection.OpenCv import OpenCvClient

    return OpenCvClient().detect_faces(cv2.imread(picture))


CLIENTS = (autocrop, facedetect, thumbor, willow, deepface)


def results(classes, client):
    done = subprocess.run(
        [sys.executable, __file__, classes, client.__name__, *PICTURES], capture_output=True, text=True, timeout=3000
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not PICTURES, reason="FACESAT_ALBUM names no folder with pictures")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_a_program_does_the_same(client):
    pytest.importorskip("cv2")
    if client is facedetect and not os.path.exists(FACEDETECT):
        pytest.skip("Debian's facedetect is not there")
    theirs, ours = results("cv2", client), results("facesat", client)
    assert ours == theirs
    assert len(theirs) == len(PICTURES) and len(set(theirs)) > 5  # something was found


if __name__ == "__main__":
    import cv2

    cv2.setNumThreads(1)  # with several threads, the order of its results varies
    if sys.argv[1] == "facesat":
        import facesat

        cv2.CascadeClassifier = facesat.CascadeClassifier
    found_by = globals()[sys.argv[2]]
    for path in sys.argv[3:]:
        print(found_by(path))
