"""facesat.CascadeClassifier against the one of an installed OpenCV (4 or 5): the same results, the same kinds of results."""

import glob
import itertools
import os

import cv2
import facesat
import numpy as np
import pytest
from facesat import CascadeClassifier, data
from pictures import FACES

CASCADES = sorted(glob.glob(data.haarcascades + "*.xml") + glob.glob(data.lbpcascades + "*.xml"))
DEFAULT = data.haarcascades + "haarcascade_frontalface_default.xml"
ALBUM = sorted(glob.glob(os.path.join(os.environ.get("FACESAT_ALBUM", "/nowhere"), "*.jpg")))


def clouds(shape, seed, size):
    noise = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    return cv2.normalize(cv2.blur(noise, (size, size)), None, 0, 255, cv2.NORM_MINMAX)


PICTURES = {
    "faces": FACES,
    "colour": cv2.merge([FACES, np.roll(FACES, 3, 1), FACES[::-1].copy()]),
    "clouds": clouds((157, 211), 4, 5),
    "noise": np.random.default_rng(1).integers(0, 256, (90, 120), np.uint8),
    "window": clouds((24, 24), 8, 3),
    "small": clouds((10, 10), 8, 3),
}


def as_set(result):
    """Rectangles, and what belongs to each of them, in an order of their own."""
    if not isinstance(result, tuple):
        return sorted(map(tuple, np.asarray(result).tolist()))
    return sorted(zip(*[[tuple(np.atleast_1d(one).tolist()) for one in part] for part in result]))


def assert_same_kinds(ours, theirs):
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same_kinds(a, b)
    else:
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape


def assert_equal(ours, theirs, image, *args, **kwargs):
    """Compares all three functions. Returns the number of comparisons."""
    for name, more in (
        ("detectMultiScale", {}),
        ("detectMultiScale2", {}),
        ("detectMultiScale3", {"outputRejectLevels": True}),
    ):
        expected = getattr(theirs, name)(image, *args, **kwargs, **more)
        found = getattr(ours, name)(image, *args, **kwargs, **more)
        assert_same_kinds(found, expected)
        assert as_set(found) == as_set(expected), (name, args, kwargs)
    return 3


@pytest.mark.parametrize("file", CASCADES, ids=os.path.basename)
def test_every_cascade_finds_the_same(file):
    ours, theirs = CascadeClassifier(file), cv2.CascadeClassifier(file)
    assert ours.empty() is theirs.empty() is False
    assert ours.getFeatureType() == theirs.getFeatureType()
    assert tuple(ours.getOriginalWindowSize()) == tuple(theirs.getOriginalWindowSize())
    assert ours.isOldFormatCascade() == theirs.isOldFormatCascade()
    count = 0
    for image, factor, neighbors in itertools.product(PICTURES.values(), (1.05, 1.1, 1.3, 2.0), (0, 1, 3)):
        count += assert_equal(ours, theirs, image, factor, neighbors)
    for least, most in itertools.product(((0, 0), (30, 30), (25, 60)), ((0, 0), (50, 50), (80, 40))):
        count += assert_equal(ours, theirs, FACES, 1.1, 2, 0, least, most)
    assert count == 3 * (6 * 4 * 3 + 9)


@pytest.mark.parametrize("file", ALBUM, ids=os.path.basename)
def test_photographs_have_the_same_faces(file):
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    image = cv2.imread(file)
    assert_equal(ours, theirs, image)
    assert_equal(ours, theirs, image, minNeighbors=0, scaleFactor=1.2)


def test_all_layouts_of_an_image_are_accepted():
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    colour = PICTURES["colour"]
    wide = np.dstack([colour, np.full(colour.shape[:2], 7, np.uint8)])
    for image in (FACES, FACES[..., None], colour, wide):
        packed = np.ascontiguousarray(image)
        expected = as_set(theirs.detectMultiScale(packed, 1.1, 2))
        padded = np.zeros((image.shape[0] + 3, image.shape[1] + 5, *image.shape[2:]), np.uint8)
        padded[1:-2, 2:-3] = image
        read_only = packed.copy()
        read_only.setflags(write=False)
        for name, view in {
            "as it is": image,
            "a part": padded[1:-2, 2:-3],
            "upside down": np.ascontiguousarray(packed[::-1])[::-1],
            "mirrored": np.ascontiguousarray(packed[:, ::-1])[:, ::-1],
            "every second row": np.repeat(packed, 2, 0)[::2],
            "every second column": np.repeat(packed, 2, 1)[:, ::2],
            "Fortran": np.asfortranarray(packed),
            "channels first": np.moveaxis(np.ascontiguousarray(np.moveaxis(packed, -1, 0)), 0, -1),
            "read-only": read_only,
            "memoryview": memoryview(packed),
        }.items():
            assert as_set(ours.detectMultiScale(view, 1.1, 2)) == expected, name


@pytest.mark.parametrize("image", [None, np.zeros((0, 0), np.uint8), np.zeros((5, 0, 3), np.uint8)])
def test_no_image_has_no_faces(image):
    assert CascadeClassifier(DEFAULT).detectMultiScale(image) == ()
    assert CascadeClassifier(DEFAULT).detectMultiScale3(image, outputRejectLevels=True) == ((), (), ())


def test_nothing_found_is_an_empty_tuple():
    flat = np.zeros((50, 50), np.uint8)
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    assert ours.detectMultiScale(flat) == theirs.detectMultiScale(flat) == ()
    assert ours.detectMultiScale2(flat) == theirs.detectMultiScale2(flat) == ((), ())
    assert ours.detectMultiScale3(flat) == theirs.detectMultiScale3(flat) == ((), (), ())


@pytest.mark.parametrize("name", ["/no/such.xml", __file__, "", os.path.dirname(__file__)])
def test_a_broken_file_leaves_the_object_empty(name, tmp_path):
    assert CascadeClassifier(name).empty()
    classifier = CascadeClassifier(DEFAULT)
    assert not classifier.load(name) and classifier.empty()
    assert classifier.load(DEFAULT) and not classifier.empty()
    assert CascadeClassifier().empty()


def test_a_file_node_is_read():
    for file in CASCADES[::3]:
        storage = cv2.FileStorage(file, cv2.FILE_STORAGE_READ)
        classifier = CascadeClassifier()
        assert classifier.read(storage.getFirstTopLevelNode())
        assert_equal(classifier, cv2.CascadeClassifier(file), FACES, 1.1, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"image": FACES.astype(np.float32)},
        {"image": FACES.astype(np.uint16)},
        {"image": FACES.astype(np.int8)},
        {"image": FACES.astype(bool)},
        {"image": np.zeros((9, 9, 2), np.uint8)},
        {"image": np.zeros((9, 9, 5), np.uint8)},
        {"image": np.zeros(9, np.uint8)},
        {"image": np.zeros((2, 9, 9, 3), np.uint8)},
        {"image": FACES.tolist()},
        {"image": "faces.png"},
        {"scaleFactor": 1.0},
        {"scaleFactor": 0.5},
        {"scaleFactor": float("nan")},
        {"scaleFactor": "2"},
        {"scaleFactor": None},
        {"minNeighbors": 2.5},
        {"minNeighbors": "3"},
        {"minSize": 30},
        {"minSize": (30,)},
        {"minSize": (30, 30, 30)},
        {"minSize": (30.5, 30)},
        {"maxSize": "large"},
        {"flags": "none"},
        {"colour": True},
    ],
    ids=lambda arguments: f"{next(iter(arguments))}",
)
def test_what_is_wrong_is_an_error_with_a_sentence(arguments):
    classifier = CascadeClassifier(DEFAULT)
    with pytest.raises(facesat.Error) as error:
        classifier.detectMultiScale(**{"image": FACES, **arguments})
    assert " " in str(error.value)
    assert len(classifier.detectMultiScale(FACES)) > 0


def test_detecting_while_empty_is_an_error():
    for call in ("detectMultiScale", "detectMultiScale2", "detectMultiScale3"):
        with pytest.raises(facesat.Error):
            getattr(CascadeClassifier(), call)(FACES)
    with pytest.raises(facesat.Error):
        CascadeClassifier().getFeatureType()


def test_unusual_numbers_are_taken_as_opencv_takes_them():
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    assert_equal(ours, theirs, FACES, np.float64(1.2), -1)
    assert_equal(ours, theirs, FACES, 1.2, np.int64(2), cv2.CASCADE_SCALE_IMAGE)
    assert_equal(ours, theirs, FACES, 1.2, 2, 0, (-5, -5), (0, 60))
    assert_equal(ours, theirs, FACES, 1.2, 2, 0, (60, 60), (40, 40))
    assert_equal(ours, theirs, FACES, 1000.0)
