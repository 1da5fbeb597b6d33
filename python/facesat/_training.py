"""Training and evaluation of cascades."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Union

from . import _arguments, _facesat
from ._cascades import cascade_file, load_cascade
from ._detector import Size

Images = Union[str, "os.PathLike[str]", "Iterable[Any]"]


class TrainedStage(NamedTuple):
    """A stage that has been trained. Rates of no samples are 1."""

    number: int
    """From 0."""
    trees: int
    positives: int
    """That were learnt from, as the negatives."""
    negatives: int
    hit_rate: float
    """The part of the positives that passes."""
    false_alarms: float
    """The part of the negatives that passes."""
    held_out_hit_rate: float
    held_out_false_alarms: float
    acceptance: float
    """The part of all windows searched for negatives that passes the stages before."""
    seconds: float
    """To train it, without the search for negatives."""
    xml: bytes
    """The cascade so far, as a file of OpenCV's."""


class Training(NamedTuple):
    """A cascade that has been trained, and how."""

    stages: list[TrainedStage]
    """Those that this training has added."""
    ending: str
    """A sentence: why no further stage was trained."""
    xml: bytes
    """The cascade as a file of OpenCV's: for Detector, CascadeClassifier and cv2."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes xml into a file."""
        with open(path, "wb") as file:
            file.write(self.xml)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _images(value: Any, name: str) -> list[Any]:
    """Paths as strings, or pairs of an array and a list of boxes."""
    items = [value] if _is_path(value) else value
    if getattr(items, "ndim", 3 if not hasattr(items, "__iter__") else 0) in (2, 3):
        raise _facesat.ArgumentError(f"{name} must be a path or a list of images, not a single one")
    items = list(items)
    paths = [os.fspath(item) for item in items if _is_path(item)]
    if paths and len(paths) < len(items):
        raise _facesat.ArgumentError(f"{name} must be paths or arrays, not both")
    return paths or [_image(item, name) for item in items]


def _image(item: Any, name: str) -> tuple[Any, list[tuple[int, int, int, int]]]:
    if not isinstance(item, tuple):
        return item, []
    if len(item) != 2:
        raise _facesat.ArgumentError(f"{name} must have pairs of an array and boxes, not {len(item)} values")
    return item[0], _arguments.boxes(item[1], name)


def train(
    positives: Images,
    negatives: Images,
    *,
    window: Size = 24,
    aspect: str = "stretch",
    copies: int = 0,
    shift: float = 0.0,
    scale: float = 0.0,
    turn: float = 0.0,
    brightness: float = 0.0,
    contrast: float = 0.0,
    mirror: bool = False,
    seed: int = 1,
    features: str = "haar-basic",
    boosting: str = "gentle",
    stages: int = 20,
    hit_rate: float = 0.995,
    false_alarms: float = 0.5,
    goal: float = 0.0,
    trim: float = 0.95,
    depth: int = 1,
    trees: int = 100,
    bins: int = 0,
    thresholds_by_held_out: bool = False,
    positives_per_stage: int = 0,
    negatives_per_stage: int = 0,
    held_out: float = 0.1,
    per_picture: int = 0,
    scale_factor: float = 1.1,
    mirrored_negatives: bool = True,
    memory: int = 4096,
    backend: str = "auto",
    device: int | str = 0,
    sat: str | None = None,
    labels: Iterable[str] = (),
    start: str | os.PathLike[str] | bytes | None = None,
    on_stage: Callable[[TrainedStage], bool | None] | None = None,
) -> Training:
    """Trains a cascade that finds what the positives show: the one that `facesat train` makes, whose options these are.

    positives: paths of annotations (info.dat, Pascal VOC, COCO, YOLO, CSV), .vec files, pictures of one object each, folders
    and archives of them; or arrays of one object each; or pairs (array, boxes) with boxes (x, y, w, h).
    negatives: paths of pictures without the object, folders (with their subfolders), archives, or annotations, of which the
    surroundings of objects are used; or arrays, or pairs (array, boxes), of which the boxes are not used.
    labels: only objects with these labels; none: all.
    start: a cascade of the same window and features, whose stages are kept (as bytes, a path or a name).
    on_stage: called after each stage; training ends when it returns False.

    The same inputs and options give the same cascade, on the CPU and on devices, with any number of threads. What cannot be
    read becomes a RuntimeWarning. Raises Error with a sentence that says what is wrong.
    """
    given = dict(locals())
    for name in ("positives", "negatives", "labels", "start", "on_stage"):
        del given[name]
    if start is not None and not isinstance(start, bytes):
        start = _arguments.path(start, "start", "a name, a path or bytes")
    call = (
        _images(positives, "positives"),
        _images(negatives, "negatives"),
        [_arguments.text(label, "labels") for label in labels],
        _arguments.training_options(given),
        None if start is None else load_cascade(start),
        None if on_stage is None else lambda stage: on_stage(TrainedStage(*stage)),
    )
    trained, ending, xml, said = _facesat.train(*call)
    _warn(said)
    return Training([TrainedStage(*stage) for stage in trained], ending, xml)


def evaluate(
    annotations: str | os.PathLike[str],
    cascades: str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes],
    *,
    root: str | os.PathLike[str] = "",
    labels: Iterable[str] = (),
    match: str = "iou",
    iou: float = 0.4,
    **options: Any,
) -> dict[str, Any]:
    """Compares what cascades find in annotated pictures with the annotations, as `facesat evaluate` does.

    cascades: names, paths, or the contents of files, or one of these.
    root: the folder that names in the annotations begin at; empty: that of the annotations.
    labels: only objects with these labels count; none: all.
    match: when a detection is right: "iou" (its intersection with an object is at least `iou` of their union), "centre",
    "opencv" or "uiuc".
    options: those of Detector.

    Returns what `facesat evaluate -o FILE.json` writes: "pictures", "objects", and for each of the "cascades" what it found
    and missed, and its curves. What cannot be read becomes a RuntimeWarning. Raises Error.
    """
    if isinstance(cascades, (str, bytes, os.PathLike)):
        cascades = [cascades]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, cascade in enumerate(cascades):
            if isinstance(cascade, bytes):
                files.append(os.path.join(folder, f"{number}.xml"))
                with open(files[-1], "wb") as file:
                    file.write(cascade)
            else:
                files.append(cascade_file(_arguments.path(cascade, "cascades", "names, paths or bytes")))
        text, said = _facesat.evaluate(
            _arguments.path(annotations, "annotations"),
            files,
            _arguments.path(root, "root"),
            [_arguments.text(label, "labels") for label in labels],
            _arguments.text(match, "match"),
            _arguments.number(iou, "iou"),
            _arguments.options(options),
        )
    _warn(said)
    result: dict[str, Any] = json.loads(text)
    return result


def _warn(sentences: list[str]) -> None:
    for sentence in sentences:
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)
