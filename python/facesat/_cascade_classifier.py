"""cv2.CascadeClassifier for programs that OpenCV 5 left without it: the same calls, the same rectangles in the same order."""

from __future__ import annotations

import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _arguments, _facesat
from ._cascades import cascade_contents, warn_of

# Accepted and ignored, as by OpenCV for cascades of its present format.
CASCADE_DO_CANNY_PRUNING = 1
CASCADE_SCALE_IMAGE = 2
CASCADE_FIND_BIGGEST_OBJECT = 4
CASCADE_DO_ROUGH_SEARCH = 8

Options = tuple[float, int, tuple[int, int], tuple[int, int]]


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _options(scale_factor: Any, min_neighbors: Any, flags: Any, min_size: Any, max_size: Any) -> Options:
    """None stands for the default, as in cv2."""
    factor = _arguments.scale_factor(_or(scale_factor, 1.1), "scaleFactor")
    neighbors = _arguments.whole(_or(min_neighbors, 3), "minNeighbors")
    _arguments.whole(_or(flags, 0), "flags")
    least = _arguments.two_whole(_or(min_size, (0, 0)), "minSize")
    most = _arguments.two_whole(_or(max_size, (0, 0)), "maxSize")
    return factor, max(0, neighbors), (max(0, least[0]), max(0, least[1])), most


def groupRectangles(rectList: Any, groupThreshold: Any, eps: Any = 0.2) -> Any:
    """As cv2.groupRectangles: the boxes of groups of more than groupThreshold similar rectangles, int32 (N, 4), and the number
    of rectangles in each, int32 (N,); or empty tuples."""
    boxes = _arguments.boxes(_or(rectList, []), "rectList")
    threshold = _arguments.whole(_or(groupThreshold, 0), "groupThreshold")
    found, counts = _facesat.group_rectangles(boxes, threshold, _arguments.number(_or(eps, 0.2), "eps"))
    return (found, counts) if len(found) else ((), ())


def _refuse(unknown: dict[str, Any]) -> None:
    if unknown:
        raise _facesat.ArgumentError(f"there is no parameter named {next(iter(unknown))!r}")


class CascadeClassifier:
    """As cv2.CascadeClassifier. Rectangles come in the order that they have there on one thread (with several, cv2's order
    varies). Beyond that, threads may share an object, it can be pickled and copied, and a name such as
    "frontalface_default" may stand for a file."""

    _most_detectors = 8  # sets of options for which an object keeps what it needs

    def __init__(self, filename: str | os.PathLike[str] | None = None) -> None:
        """A missing or broken file does not raise: empty() is then True, a warning (RuntimeWarning) gives the reason, and so
        does the exception of detectMultiScale()."""
        self._lock = threading.Lock()
        self._clear()
        if filename is not None:
            self._load(filename)

    @classmethod
    def from_bytes(cls, contents: bytes | str) -> CascadeClassifier:
        """Of the contents of a cascade file. Raises CascadeError."""
        if not isinstance(contents, (bytes, bytearray, memoryview, str)):
            raise _facesat.ArgumentError(f"contents must be bytes or a string, not {contents!r}")
        classifier = cls()
        classifier._use(contents.encode() if isinstance(contents, str) else bytes(contents), "cascade")
        return classifier

    @staticmethod
    def convert(oldcascade: str | os.PathLike[str], newcascade: str | os.PathLike[str]) -> bool:
        """Writes a cascade file of OpenCV's old format as one of the present format. If that fails, it warns with the reason,
        returns False, and writes nothing."""
        old = _arguments.path(oldcascade, "oldcascade")
        new = _arguments.path(newcascade, "newcascade")
        try:
            converted = _facesat.in_present_format(cascade_contents(old), old)
            with open(new, "wb") as file:
                file.write(converted)
        except (_facesat.CascadeError, OSError) as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            return False
        return True

    def _clear(self, reason: str = "no cascade has been loaded") -> None:
        self._contents = b""
        self._cascade: _facesat.Cascade | None = None
        self._detectors: OrderedDict[Options, _facesat.Detector] = OrderedDict()
        self._reason = reason

    def _use(self, contents: bytes, name: str) -> None:
        cascade = _facesat.cascade_from_bytes(contents, name)
        with self._lock:
            self._clear()
            self._contents, self._cascade = contents, cascade

    def _load(self, filename: Any) -> bool:
        """Called by a function that users call, at whose caller a warning points."""
        name = _arguments.path(filename, "filename")
        return self._attempt(lambda: self._use(cascade_contents(name), name))

    def _attempt(self, load: Callable[[], None]) -> bool:
        with self._lock:
            self._clear()
        try:
            load()
        except _facesat.CascadeError as error:
            with self._lock:
                self._clear(str(error))
            warnings.warn(str(error), RuntimeWarning, stacklevel=4)
            return False
        warn_of(self._loaded(), stacklevel=5)
        return True

    def load(self, filename: str | os.PathLike[str]) -> bool:
        """Loads a cascade file. If that fails, it warns with the reason, returns False, and leaves the object empty."""
        return self._load(filename)

    def read(self, node: Any) -> bool:
        """Loads a cascade from a cv2.FileNode, such as cv2.FileStorage(...).getFirstTopLevelNode()."""
        from ._file_node import to_xml

        return self._attempt(lambda: self._use(to_xml(node), "the node"))

    def empty(self) -> bool:
        return self._cascade is None

    def getFeatureType(self) -> int:
        """0: Haar, 1: LBP."""
        return int(self._loaded().is_lbp)

    def getOriginalWindowSize(self) -> tuple[int, int]:
        return (0, 0) if self._cascade is None else self._cascade.window

    def isOldFormatCascade(self) -> bool:
        return False  # OpenCV converts old cascades when it loads them

    def detectMultiScale(self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0,
                         minSize: Any = (0, 0), maxSize: Any = (0, 0), **unknown: Any) -> Any:  # fmt: skip
        """The rectangles, int32 (N, 4), or the empty tuple."""
        _refuse(unknown)
        return self._detect(image, _options(scaleFactor, minNeighbors, flags, minSize, maxSize))[0]

    def detectMultiScale2(self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0,
                          minSize: Any = (0, 0), maxSize: Any = (0, 0), **unknown: Any) -> Any:  # fmt: skip
        """The rectangles, and for each the number of its windows, int32 (N,); or empty tuples."""
        _refuse(unknown)
        return self._detect(image, _options(scaleFactor, minNeighbors, flags, minSize, maxSize))[:2]

    def detectMultiScale3(self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0,
                          minSize: Any = (0, 0), maxSize: Any = (0, 0), outputRejectLevels: bool = False,
                          **unknown: Any) -> Any:  # fmt: skip
        """The rectangles; for each the number of stages passed, int32 (N,), and the largest sum of the last stage, float64
        (N,); or empty tuples. Without outputRejectLevels, cv2 fails once it finds something; here the result is the same as with it."""
        _refuse(unknown)
        boxes, _, scores = self._detect(image, _options(scaleFactor, minNeighbors, flags, minSize, maxSize))
        if len(boxes) == 0:
            return (), (), ()
        return boxes, np.full(len(boxes), self._loaded().stages, np.int32), scores

    def _loaded(self) -> _facesat.Cascade:
        if self._cascade is None:
            raise _facesat.Error(f"this CascadeClassifier is empty: {self._reason}")
        return self._cascade

    def _detector(self, options: Options) -> _facesat.Detector:
        with self._lock:
            detector = self._detectors.get(options)
            if detector is None:
                names = ("scale_factor", "min_neighbors", "min_size", "max_size")
                detector = _facesat.Detector(self._loaded(), dict(zip(names, options)))
                self._detectors[options] = detector
                if len(self._detectors) > self._most_detectors:
                    self._detectors.popitem(last=False)
            else:
                self._detectors.move_to_end(options)
        return detector

    def _detect(self, image: Any, options: Options) -> Any:
        self._loaded()
        if image is None or min(options[3]) < 0:
            return (), (), ()
        found = self._detector(options).detect(image, None)
        return found if len(found[0]) else ((), (), ())

    def __setstate__(self, state: tuple[bytes, str]) -> None:
        contents, self._reason = state
        if contents:
            self._use(contents, "cascade")

    def __reduce__(self) -> Any:
        return (type(self), (), (self._contents, self._reason))
