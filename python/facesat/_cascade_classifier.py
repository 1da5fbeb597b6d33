"""cv2.CascadeClassifier for programs that OpenCV 5 left without it: the same calls, the same rectangles."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from . import _arguments, _facesat
from .data import cascade_path

# Accepted and ignored, as by OpenCV for cascades of its present format.
CASCADE_DO_CANNY_PRUNING = 1
CASCADE_SCALE_IMAGE = 2
CASCADE_FIND_BIGGEST_OBJECT = 4
CASCADE_DO_ROUGH_SEARCH = 8

Options = tuple[float, int, tuple[int, int], tuple[int, int]]


def _size(value: Any, name: str) -> tuple[int, int]:
    return (0, 0) if value is None else _arguments.two_whole(value, name)


def _options(scale_factor: Any, min_neighbors: Any, flags: Any, min_size: Any, max_size: Any) -> Options:
    factor = _arguments.scale_factor(scale_factor, "scaleFactor")
    _arguments.whole(flags, "flags")
    least, most = _size(min_size, "minSize"), _size(max_size, "maxSize")
    neighbors = _arguments.whole(min_neighbors, "minNeighbors")
    return factor, max(0, neighbors), (max(0, least[0]), max(0, least[1])), most


def _refuse(unknown: dict[str, Any]) -> None:
    if unknown:
        raise _facesat.ArgumentError(f"there is no parameter named {next(iter(unknown))!r}")


class CascadeClassifier:
    """As cv2.CascadeClassifier. Beyond that, threads may share an object, it can be pickled and copied, and a name such as
    "frontalface_default" may stand for a file."""

    _most_detectors = 8  # sets of options for which an object keeps what it needs

    def __init__(self, filename: str | os.PathLike[str] | None = None) -> None:
        """A missing or broken file does not raise: empty() is then True."""
        self._lock = threading.Lock()
        self._clear()
        if filename is not None:
            self.load(filename)

    def _clear(self) -> None:
        self._xml = b""
        self._cascade: _facesat.Cascade | None = None
        self._detectors: OrderedDict[Options, _facesat.Detector] = OrderedDict()

    def _use(self, xml: bytes) -> bool:
        try:
            cascade = _facesat.cascade_from_xml(xml, "cascade")
        except _facesat.Error:
            return False
        with self._lock:
            self._clear()
            self._xml, self._cascade = xml, cascade
        return True

    def load(self, filename: str | os.PathLike[str]) -> bool:
        """Loads a cascade file. Returns False, and leaves the object empty, if that fails."""
        if not isinstance(filename, (str, os.PathLike)):
            raise _facesat.ArgumentError(f"filename must be a path, not {filename!r}")
        with self._lock:
            self._clear()
        try:
            with open(cascade_path(filename), "rb") as file:
                return self._use(file.read())
        except (OSError, ValueError):
            return False

    def read(self, node: Any) -> bool:
        """Loads a cascade from a cv2.FileNode, such as cv2.FileStorage(...).getFirstTopLevelNode()."""
        from ._file_node import to_xml

        return self._use(to_xml(node))

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
        """The rectangles; for each the number of stages passed, int32 (N,), and the largest sum of the last stage, float64 (N,); or
        empty tuples. Without outputRejectLevels, cv2 fails once it finds something; here the result is the same as with it."""
        _refuse(unknown)
        boxes, _, scores = self._detect(image, _options(scaleFactor, minNeighbors, flags, minSize, maxSize))
        if len(boxes) == 0:
            return (), (), ()
        return boxes, np.full(len(boxes), self._loaded().stages, np.int32), scores

    def _loaded(self) -> _facesat.Cascade:
        if self._cascade is None:
            raise _facesat.Error("no cascade is loaded")
        return self._cascade

    def _detector(self, options: Options) -> _facesat.Detector:
        with self._lock:
            detector = self._detectors.get(options)
            if detector is None:
                factor, neighbors, least, most = options
                detector = _facesat.Detector(
                    self._loaded(), factor, neighbors, least, most, False, False, "auto", "0", ""
                )
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

    def __getstate__(self) -> bytes:
        return self._xml

    def __setstate__(self, xml: bytes) -> None:
        self._lock = threading.Lock()
        self._clear()
        if xml:
            self._use(xml)

    def __reduce__(self) -> Any:
        return (type(self), (), self._xml or None)
