"""facesat.CascadeClassifier against the one of an installed OpenCV (4 or 5): the same results in the same order, and the same
kinds of results."""

import glob
import itertools
import os

import cv2
import facesat
import numpy as np
import pytest
from facesat import CascadeClassifier, data
from pictures import FACES

cv2.setNumThreads(1)  # with several threads, the order of its results varies

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


def assert_same(ours, theirs):
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same(a, b)
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def assert_equal(ours, theirs, image, *args, **kwargs):
    """Compares all three functions. Returns the number of comparisons."""
    for name, more in (
        ("detectMultiScale", {}),
        ("detectMultiScale2", {}),
        ("detectMultiScale3", {"outputRejectLevels": True}),
    ):
        expected = getattr(theirs, name)(image, *args, **kwargs, **more)
        found = getattr(ours, name)(image, *args, **kwargs, **more)
        assert_same(found, expected)
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
        expected = theirs.detectMultiScale(packed, 1.1, 2)
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
            found = ours.detectMultiScale(view, 1.1, 2)
            np.testing.assert_array_equal(found, expected, name)


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
def test_a_broken_file_leaves_the_object_empty_and_the_reason_is_told(name):
    with pytest.warns(RuntimeWarning) as warnings:
        classifier = CascadeClassifier(name)
        assert classifier.empty()
        assert not classifier.load(name) and classifier.empty()
    reasons = [str(one.message) for one in warnings]
    assert len(reasons) == 2 and reasons[0] == reasons[1] and name in reasons[0]
    assert {one.filename for one in warnings} == {__file__}
    with pytest.raises(facesat.Error) as error:
        classifier.detectMultiScale(FACES)
    assert reasons[0] in str(error.value)
    assert classifier.load(DEFAULT) and not classifier.empty()
    assert CascadeClassifier().empty()


@pytest.mark.parametrize(
    "name, nearest",
    [
        ("/usr/share/opencv/haarcascade_frontalface_default.xml", "frontalface_default"),
        ("haarcascade_frontalface_default", "frontalface_default"),
        ("lbpcascade_frontalface.xml", "lbp:frontalface"),
        ("frontalface_alt", None),
        ("frontal_face_default", "frontalface_default"),
        ("aquarium", None),
    ],
)
def test_the_nearest_name_is_told(name, nearest):
    if name in facesat.cascade_names():
        assert not CascadeClassifier(name).empty()
        return
    with pytest.warns(RuntimeWarning) as warnings:
        CascadeClassifier(name)
    assert name in str(warnings[0].message)
    assert ("there is a cascade named" in str(warnings[0].message)) is (nearest is not None)
    assert nearest is None or f'"{nearest}"' in str(warnings[0].message)


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
        {"image": cv2.UMat(FACES)},
        {"scaleFactor": 1.0},
        {"scaleFactor": 0.5},
        {"scaleFactor": float("nan")},
        {"scaleFactor": "2"},
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


@pytest.mark.parametrize("name", ["flags", "scaleFactor", "minNeighbors", "minSize", "maxSize"])
def test_none_is_the_default(name):
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    assert_equal(ours, theirs, FACES, **{name: None})
    np.testing.assert_array_equal(ours.detectMultiScale(FACES, **{name: None}), ours.detectMultiScale(FACES))


def test_groups_of_rectangles():
    random = np.random.default_rng(3)
    for count in (0, 1, 2, 7, 60, 300):
        boxes = np.column_stack([random.integers(-50, 150, (count, 2)), random.integers(0, 90, (count, 2))]).tolist()
        for threshold in (-1, 0, 1, 2, 4):
            for eps in (0.2, 0.0, 0.05, 0.5, 3.0, 1e9, -1.0, float("nan"), None):
                assert_same(facesat.groupRectangles(boxes, threshold, eps), cv2.groupRectangles(boxes, threshold, eps))
    twice = [(1, 2, 30, 30)] * 2
    for rectangles in (twice, np.array(twice), np.array(twice, np.uint8), [np.array(one) for one in twice], None, ()):
        assert_same(facesat.groupRectangles(rectangles, 1), cv2.groupRectangles(rectangles, 1))
    assert_same(facesat.groupRectangles(twice, None), cv2.groupRectangles(twice, None))


@pytest.mark.parametrize(
    "arguments",
    [([(1, 2, 3)], 1), ([(1.5, 2, 3, 4)], 1), ("abcd", 1), ([(2**31, 0, 1, 1)], 1), ([], 1.5), ([], 1, "x"), (3, 1)],
    ids=str,
)
def test_what_are_no_rectangles_is_an_error_with_a_sentence(arguments):
    with pytest.raises(facesat.Error) as error:
        facesat.groupRectangles(*arguments)
    assert " " in str(error.value)


def test_an_old_cascade_is_converted(tmp_path):
    old = data.haarcascades + "haarcascade_licence_plate_rus_16stages.xml"
    new = str(tmp_path / "new.xml")
    assert CascadeClassifier.convert(old, new)
    ours, theirs, converted = cv2.CascadeClassifier(new), cv2.CascadeClassifier(old), CascadeClassifier(new)
    clouded = PICTURES["clouds"]
    for image in (FACES, clouded, cv2.resize(clouded, None, fx=3, fy=3)):
        for neighbors in (0, 1):
            assert_same(ours.detectMultiScale(image, 1.05, neighbors), theirs.detectMultiScale(image, 1.05, neighbors))
            assert_equal(converted, theirs, image, 1.05, neighbors)
    for wrong, target in ((DEFAULT, "2.xml"), (__file__, "2.xml"), ("/no/such", "2.xml"), (old, "no/such/folder.xml")):
        with pytest.warns(RuntimeWarning):
            assert CascadeClassifier.convert(wrong, str(tmp_path / target)) is False
    assert os.listdir(tmp_path) == ["new.xml"]


def test_unusual_numbers_are_taken_as_opencv_takes_them():
    ours, theirs = CascadeClassifier(DEFAULT), cv2.CascadeClassifier(DEFAULT)
    assert_equal(ours, theirs, FACES, np.float64(1.2), -1)
    assert_equal(ours, theirs, FACES, 1.2, np.int64(2), cv2.CASCADE_SCALE_IMAGE)
    assert_equal(ours, theirs, FACES, 1.2, 2, 0, (-5, -5), (0, 60))
    assert_equal(ours, theirs, FACES, 1.2, 2, 0, (60, 60), (40, 40))
    assert_equal(ours, theirs, FACES, 1000.0)
