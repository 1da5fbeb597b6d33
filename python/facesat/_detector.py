from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union, overload

import numpy as np
import numpy.typing as npt

from . import _arguments, _facesat
from ._cascades import load_cascade


class Face(NamedTuple):
    """A face: its box in pixels, how many windows make it, and the largest sum of the last stage among them."""

    x: int
    y: int
    width: int
    height: int
    neighbors: int
    score: float


class Faces(Sequence[Face]):
    """The faces in one image, in the order of OpenCV's detectMultiScale on one thread: that of the first window of each.
    Two of them are equal if their contents are."""

    __slots__ = ("boxes", "neighbors", "scores")

    boxes: npt.NDArray[np.int32]
    """(N, 4): x, y, width and height of each face, in pixels."""
    neighbors: npt.NDArray[np.int32]
    """(N,): the number of windows that were merged into each face."""
    scores: npt.NDArray[np.float64]
    """(N,): the largest sum of the last stage among these windows."""

    def __init__(
        self, boxes: npt.NDArray[np.int32], neighbors: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]
    ) -> None:
        self.boxes = boxes
        self.neighbors = neighbors
        self.scores = scores

    def __len__(self) -> int:
        return len(self.boxes)

    @overload
    def __getitem__(self, index: int) -> Face: ...
    @overload
    def __getitem__(self, index: slice) -> Faces: ...
    def __getitem__(self, index: int | slice) -> Face | Faces:
        if isinstance(index, slice):
            return Faces(self.boxes[index], self.neighbors[index], self.scores[index])
        x, y, width, height = self.boxes[index].tolist()
        return Face(x, y, width, height, self.neighbors[index].item(), self.scores[index].item())

    def __iter__(self) -> Iterator[Face]:
        for (x, y, width, height), neighbors, score in zip(
            self.boxes.tolist(), self.neighbors.tolist(), self.scores.tolist()
        ):
            yield Face(x, y, width, height, neighbors, score)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Faces):
            return NotImplemented
        return list(self) == list(other)

    def __repr__(self) -> str:
        return f"Faces({list(self)})"


Size = Union[int, "tuple[int, int]"]


def _shortest(size: tuple[int, int]) -> Size:
    """As a user would write it."""
    return size[0] if size[0] == size[1] else size


def _is_list_of_images(images: object) -> bool:
    if isinstance(images, (str, bytes, bytearray, memoryview, os.PathLike)):
        return False
    if not hasattr(images, "__iter__") and not hasattr(images, "__getitem__"):
        return False
    return getattr(images, "ndim", 1) not in (0, 2, 3)  # an array of two or three dimensions is one image


class Detector:
    """Finds faces in images. Any number of threads may call one object; it can be pickled and copied.

    cascade: a name (see cascade_names()), a path, or the contents of a file as bytes.
    backend: "auto" (a CUDA device if there is one; the CPU goes on if that fails), "cpu" or "cuda".
    device: the number of the CUDA device, or "all".
    sat: the algorithm for integral images on a device (as for sat()); None: the fastest.
    scale_factor, min_neighbors, min_size, max_size: as in OpenCV; a size is (width, height) or one side, 0: no limit.
    scan: "opencv", or "dense" for every position of every level.
    equalize: equalise the histogram of the grey image first.
    min_score: leave out faces of lower scores; None: no limit.

    Raises Error with a sentence that says what is wrong.
    """

    def __init__(
        self,
        cascade: str | os.PathLike[str] | bytes = "frontalface_default",
        backend: str = "auto",
        device: int | str = 0,
        sat: str | None = None,
        scale_factor: float = 1.1,
        min_neighbors: int = 3,
        min_size: Size = 0,
        max_size: Size = 0,
        scan: str = "opencv",
        equalize: bool = False,
        min_score: float | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "cascade")}
        if not isinstance(cascade, bytes):
            cascade = _arguments.path(cascade, "cascade", "a name, a path or bytes")
        options = _arguments.options(given)
        self._detector = _facesat.Detector(load_cascade(cascade), options)
        # As a user would write them.
        shown = {**options, "device": device, "sat": sat, "min_score": min_score}
        shown.update((name, _shortest(value)) for name, value in options.items() if isinstance(value, tuple))
        self._arguments = (cascade, *(shown[name] for name in given))

    def __call__(self, image: Any, stream: Any = None) -> Faces:
        """The faces in an image: uint8, (height, width), or with 1, 3 (BGR) or 4 (BGRA) channels.

        image: anything with the buffer protocol, DLPack or __cuda_array_interface__. An image on a device stays there.
        stream: in which it was written, as a number or an object with `cuda_stream` or `ptr`; None: as the array says, or the
        current one of PyTorch.
        """
        return Faces(*self._detector.detect(image, stream))

    def batch(self, images: Iterable[Any]) -> list[Faces | _facesat.Error]:
        """The faces in many images of any sizes, searched at the same time.

        An image is an array, the path of a picture (str or os.PathLike), or the bytes of one. An array of four dimensions
        is a list of images. The result has an Error in the place of a picture that cannot be read or searched.
        """
        if not _is_list_of_images(images):
            raise _facesat.ArgumentError(f"expected a list of images, not an object of type {type(images).__name__}")
        inputs = [os.fspath(image) if isinstance(image, os.PathLike) else image for image in images]
        return [
            _facesat.Error(found) if isinstance(found, str) else Faces(*found)
            for found in self._detector.detect_all(inputs)
        ]

    @property
    def times(self) -> dict[str, float]:
        """Milliseconds that the last image spent in each step. Where threads share the object, it is the image of the call
        that ended last, whichever thread made it; batch() does not count."""
        return self._detector.times

    @property
    def device_name(self) -> str:
        """ "CPU", or the name of the device."""
        return self._detector.device_name

    def __repr__(self) -> str:
        cascade, *options = zip(inspect.signature(Detector).parameters.values(), self._arguments)
        others = [f"{option.name}={value!r}" for option, value in options if value != option.default]
        shown = f"<{len(cascade[1])} bytes>" if isinstance(cascade[1], bytes) else repr(cascade[1])
        return f"Detector({', '.join([shown, *others])})"

    def __reduce__(self) -> tuple[type[Detector], tuple[Any, ...]]:
        return (Detector, self._arguments)
