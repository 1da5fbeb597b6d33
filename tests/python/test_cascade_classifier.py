"""What facesat.CascadeClassifier has and cv2's does not: names, copies, threads."""

import copy
import pathlib
import pickle
import resource
import threading
import time

import numpy as np
import pytest
from facesat import ArgumentError, CascadeClassifier, CascadeError, Detector, Error, data
from pictures import FACES
from threads import assert_same_in_threads

DEFAULT = data.haarcascades + "haarcascade_frontalface_default.xml"
SMALL = FACES[::2, :150:2]
NOISE = np.random.default_rng(8).integers(0, 256, (150, 200), np.uint8)


def boxes(classifier, image, *options):
    return np.asarray(classifier.detectMultiScale(image, *options)).tolist()


def test_names_and_paths_may_stand_for_a_file():
    for name in ("frontalface_default", "lbp:frontalface", pathlib.Path(DEFAULT)):
        assert not CascadeClassifier(name).empty()


def test_the_contents_of_a_file_may_stand_for_it():
    contents = pathlib.Path(DEFAULT).read_bytes()
    expected = boxes(CascadeClassifier(DEFAULT), FACES)
    for given in (contents, contents.decode(), bytearray(contents), memoryview(contents)):
        assert boxes(CascadeClassifier.from_bytes(given), FACES) == expected
    assert Detector(contents)(FACES).boxes.tolist() == expected
    for wrong in (b"", "<html></html>", contents[:-100]):
        with pytest.raises(CascadeError):
            CascadeClassifier.from_bytes(wrong)
    with pytest.raises(ArgumentError):
        CascadeClassifier.from_bytes(None)


def test_objects_can_be_pickled_and_copied():
    classifier = CascadeClassifier("lbp:frontalface")
    expected = boxes(classifier, FACES, 1.1, 1)
    assert expected
    for other in (pickle.loads(pickle.dumps(classifier)), copy.copy(classifier), copy.deepcopy(classifier)):
        assert boxes(other, FACES, 1.1, 1) == expected
    with pytest.warns(RuntimeWarning):
        empty = pickle.loads(pickle.dumps(CascadeClassifier("/no/such.xml")))
    assert empty.empty()
    with pytest.raises(Error, match="/no/such.xml"):
        empty.detectMultiScale(FACES)


def test_threads_share_one_object():
    classifier = CascadeClassifier(DEFAULT)
    images = [SMALL, np.dstack([SMALL, np.roll(SMALL, 3, 1), SMALL]), NOISE[:65, :75], SMALL[:24, :24]]
    assert_same_in_threads(lambda image: boxes(classifier, image, 1.3, 1), images, rounds=2000)


def test_another_thread_ticks_during_a_call():
    image = np.kron(NOISE, np.ones((12, 12), np.uint8))
    classifier = CascadeClassifier("profileface")
    ticks, is_over = [], threading.Event()

    def tick():
        while not is_over.wait(0.001):
            ticks.append(1)

    ticker = threading.Thread(target=tick)
    ticker.start()
    during, end = 0, time.monotonic() + 60
    while during <= 5 and time.monotonic() < end:
        before = len(ticks)
        classifier.detectMultiScale(image, 1.02, 3)
        during = max(during, len(ticks) - before)
    is_over.set()
    ticker.join()
    assert during > 5


def test_ten_thousand_calls_do_not_leak():
    classifier = CascadeClassifier(DEFAULT)

    def call():
        return classifier.detectMultiScale3(SMALL, 1.3, 1, outputRejectLevels=True)

    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    assert len(call()[0]) > 0
    for _ in range(2000):
        call()
    before = memory()
    for _ in range(10_000):
        call()
    assert memory() - before < 10_000 * 100  # a hundred bytes per call would be a leak
