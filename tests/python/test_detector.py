"""facesat.Detector: the module's own interface."""

import copy
import inspect
import os
import pathlib
import pickle
import signal
import threading
import time

import facesat
import numpy as np
import pytest
from pictures import FACES
from threads import assert_same_in_threads


def same(a, b):
    return (
        np.array_equal(a.boxes, b.boxes)
        and np.array_equal(a.neighbors, b.neighbors)
        and np.array_equal(a.scores, b.scores)
    )


def test_faces_are_arrays_and_a_sequence():
    faces = facesat.Detector(backend="cpu")(FACES)
    assert len(faces) > 1
    assert faces.boxes.dtype == np.int32 and faces.boxes.shape == (len(faces), 4)
    assert faces.neighbors.dtype == np.int32 and faces.neighbors.shape == (len(faces),)
    assert faces.scores.dtype == np.float64 and faces.scores.shape == (len(faces),)
    first = next(iter(faces))
    assert list(first[:4]) == faces.boxes[0].tolist()
    assert (first.neighbors, first.score) == (faces.neighbors[0], faces.scores[0])
    assert faces.boxes.tolist() == facesat.CascadeClassifier("frontalface_default").detectMultiScale(FACES).tolist()
    none = facesat.Detector(backend="cpu")(np.zeros((30, 30), np.uint8))
    assert len(none) == 0 and none.boxes.shape == (0, 4) and list(none) == []


def test_parameters_are_the_options_of_the_library():
    _, *parameters = inspect.signature(facesat.Detector).parameters  # without the cascade
    fields = [*facesat._facesat.backend_fields(), *facesat._facesat.detection_fields()]
    of_several_cascades = ("inside_of", "only_with_inner")
    assert parameters == [name for name, *_ in fields if name not in of_several_cascades]


def test_options_are_those_of_opencv():
    detector = facesat.Detector(
        "lbp:frontalface", "cpu", scale_factor=1.2, min_neighbors=1, min_size=20, max_size=(90, 80)
    )
    classifier = facesat.CascadeClassifier("lbp:frontalface")
    expected = classifier.detectMultiScale(FACES, 1.2, 1, 0, (20, 20), (90, 80))
    assert sorted(detector(FACES).boxes.tolist()) == sorted(np.asarray(expected).tolist())
    assert len(facesat.Detector(min_neighbors=0, scan="dense")(FACES)) > len(facesat.Detector(min_neighbors=0)(FACES))
    assert same(facesat.Detector(equalize=True)(FACES), facesat.Detector(equalize=True)(FACES))


def test_faces_have_indices_and_slices_and_are_compared():
    faces = facesat.Detector(backend="cpu")(FACES)
    every = list(faces)
    assert len(every) > 2
    assert [faces[i] for i in range(len(faces))] == every and faces[-1] == every[-1]
    assert [type(value) for value in faces[0]] == [int] * 5 + [float]
    assert isinstance(faces[1:], facesat.Faces) and list(faces[1:]) == every[1:] and list(faces[::-1]) == every[::-1]
    assert every[1] in faces and faces.index(every[1]) == 1
    with pytest.raises(IndexError):
        faces[len(faces)]
    assert faces == facesat.Detector(backend="cpu")(FACES) and faces[:0] == faces[:0]
    assert faces != faces[1:] and faces != every
    assert faces != facesat.Faces(faces.boxes, faces.neighbors + 1, faces.scores)
    assert pickle.loads(pickle.dumps(faces)) == faces


def test_repr_has_the_options_that_are_not_the_defaults():
    assert repr(facesat.Detector()) == "Detector('frontalface_default')"
    detector = facesat.Detector(
        "lbp:frontalface", "cpu", min_neighbors=5, min_size=(30, 20), max_size=np.array([90, 90])
    )
    assert repr(detector) == (
        "Detector('lbp:frontalface', backend='cpu', min_neighbors=5, min_size=(30, 20), max_size=90)"
    )


def test_numbers_of_numpy_are_options():
    options = {"min_size": np.int64(20), "max_size": np.array([90, 80]), "scale_factor": np.float32(1.25)}
    detector = facesat.Detector(min_neighbors=np.uint8(1), equalize=np.bool_(True), **options)
    expected = facesat.Detector(min_neighbors=1, equalize=True, min_size=20, max_size=(90, 80), scale_factor=1.25)
    assert len(expected(FACES)) > 0 and detector(FACES) == expected(FACES)


def test_faces_of_lower_scores_are_left_out():
    everything = facesat.Detector(min_neighbors=0)(FACES)
    score = sorted(everything.scores)[len(everything) // 2]
    some = facesat.Detector(min_neighbors=0, min_score=score)
    assert 0 < len(some(FACES)) < len(everything) and min(some(FACES).scores) == score
    assert "min_score=" in repr(some) and "min_score" not in repr(facesat.Detector(min_score=None))
    with pytest.raises(facesat.ArgumentError):
        facesat.Detector(min_score=float("nan"))


def test_every_name_of_a_cascade_can_be_used():
    names = facesat.cascade_names()
    assert len(names) == 22 and names == sorted(names)
    assert {"frontalface_default", "lbp:frontalface"} <= set(names)
    for name in names:
        facesat.Detector(name, "cpu")


def test_an_unknown_name_of_a_cascade_is_no_path():
    for name in ("nose", "lbp:nose"):
        with pytest.raises(facesat.CascadeError) as error:
            facesat.Detector(name)
        assert f'no cascade named "{name}"' in str(error.value) and "cascade_names()" in str(error.value)
        assert "/" not in str(error.value)
    with pytest.raises(facesat.CascadeError, match="nowhere/nose.xml: there is no such file"):
        facesat.Detector("nowhere/nose.xml")


@pytest.mark.parametrize(
    "options",
    [
        {"min_neighbors": 2.5},
        {"min_neighbors": 2**40},
        {"scale_factor": "a"},
        {"scale_factor": None},
        {"max_size": "20x20"},
        {"min_size": (20, 20, 20)},
        {"min_size": (20, 20.5)},
        {"min_size": None},
        {"max_size": -1},
        {"min_size": (30, -1)},
        {"cascade": ["eye", "frontalface_default"]},
        {"cascade": None},
        {"backend": None},
        {"device": 0.5},
        {"sat": 7},
    ],
    ids=str,
)
def test_arguments_of_wrong_types_are_named(options):
    with pytest.raises(facesat.ArgumentError, match=f"^{next(iter(options))} must .*(not|negative: )"):
        facesat.Detector(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"cascade": "nose_ring"},
        {"cascade": __file__},
        {"backend": "gpu"},
        {"backend": "cuda", "device": 99},
        {"device": "first"},
        {"sat": "nosuch"},
        {"scale_factor": 1.0},
        {"min_neighbors": -1},
        {"scan": "all"},
    ],
    ids=str,
)
def test_wrong_options_are_errors(options):
    with pytest.raises(facesat.Error) as error:
        facesat.Detector(**options)
    assert " " in str(error.value)


def test_times_are_of_the_last_image():
    detector = facesat.Detector(backend="cpu")
    assert set(detector.times.values()) == {0}
    detector(FACES)
    assert list(detector.times) == ["upload", "gray", "resize", "sat", "evaluate", "download", "group"]
    assert detector.times["evaluate"] > 0
    assert detector.device_name == "CPU"


def test_a_batch_takes_arrays_paths_and_bytes(tmp_path):
    detector = facesat.Detector(backend="cpu")
    expected = detector(FACES)
    pgm = b"P5\n%d %d\n255\n" % FACES.shape[::-1] + FACES.tobytes()
    file = tmp_path / "faces.pgm"
    file.write_bytes(pgm)
    found = detector.batch([FACES, str(file), pathlib.Path(file), pgm, FACES[:, ::-1]])
    assert all(same(one, expected) for one in found[:4])
    assert same(found[4], detector(FACES[:, ::-1]))
    assert all(same(one, expected) for one in detector.batch(np.stack([FACES[..., None]] * 2)))
    assert all(same(one, expected) for one in detector.batch(np.array([str(file)] * 2)))
    assert detector.batch([]) == []
    broken = detector.batch([tmp_path / "none.png", b"", b"GIF89a", FACES.astype(float), pgm[:30], "", None, FACES])
    assert [isinstance(one, facesat.Error) for one in broken] == [True] * 7 + [False]
    assert all(" " in str(one) for one in broken[:-1])


@pytest.mark.parametrize(
    "images",
    [
        "photos/",
        pathlib.Path("photos"),
        b"P5 1 1 255\n0",
        FACES,
        np.dstack([FACES] * 3),
        memoryview(FACES),
        memoryview(b""),
        None,
        7,
    ],
    ids=lambda images: type(images).__name__,
)
def test_one_image_is_not_a_list(images):
    with pytest.raises(facesat.ArgumentError, match="a list of images"):
        facesat.Detector(backend="cpu").batch(images)


def test_none_is_not_an_image():
    with pytest.raises(facesat.ArgumentError, match="not None"):
        facesat.Detector(backend="cpu")(None)
    (error,) = facesat.Detector(backend="cpu").batch([None])
    assert "not None" in str(error)


def test_objects_can_be_pickled_and_copied():
    detector = facesat.Detector("lbp:frontalface", "cpu", scale_factor=1.3, min_size=(30, 20))
    for other in (pickle.loads(pickle.dumps(detector)), copy.copy(detector), copy.deepcopy(detector)):
        assert same(other(FACES), detector(FACES))


def test_threads_share_one_object():
    detector = facesat.Detector(backend="cpu", scale_factor=1.3)
    assert_same_in_threads(lambda image: list(detector(image)), [FACES, FACES[:, 100:], FACES[20:]], rounds=300)


def test_dlpack_arrays_are_images():
    class OnlyDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    detector = facesat.Detector(backend="cpu")
    assert same(detector(OnlyDlpack(FACES)), detector(FACES))


@pytest.mark.parametrize("in_batch", [False, True])
def test_ctrl_c_ends_a_call(in_batch, python_takes_ctrl_c):
    slow = facesat.Detector("lbp:frontalface", "cpu", scale_factor=1.0005, scan="dense")
    noise = np.random.default_rng(8).integers(0, 256, (3000, 3000), np.uint8)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        slow.batch([noise] * 30) if in_batch else slow(noise)
    assert set(slow.times.values()) == {0}  # no call has ended
    assert time.monotonic() - start < 20  # the batch would take many minutes
    part = FACES[:60, :60]
    assert slow.batch([part]) == [slow(part)]  # it can be used again
