"""The extension module. Its users are the files beside it; see facesat for what programs use."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]

class Error(Exception):
    """The base class of all errors of facesat; each message is a sentence."""

class CascadeError(Error):
    """A cascade that does not exist, or a file that is not one or is damaged."""

class ArgumentError(Error):
    """An argument of a wrong type, or outside its range."""

class BackendError(Error):
    """A backend, device or algorithm that this machine or this build does not have."""

class DeviceError(Error):
    """A device that has failed."""

class OutOfMemory(Error):
    """Work that does not fit into memory; the message says how many bytes it would need."""

class Cascade:
    @property
    def name(self) -> str: ...
    @property
    def is_lbp(self) -> bool: ...
    @property
    def stages(self) -> int: ...
    @property
    def window(self) -> tuple[int, int]: ...
    @property
    def warnings(self) -> list[str]:
        """Sentences on what suggests that the file is damaged."""

def cascade_from_bytes(contents: bytes, name: str) -> Cascade:
    """Of the contents of a file; messages begin with the name. Raises CascadeError."""

def in_present_format(contents: bytes, name: str) -> bytes:
    """An old cascade file as one of OpenCV's present format. Raises CascadeError for other files."""

def group_rectangles(
    boxes: list[tuple[int, int, int, int]], threshold: int, eps: float
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The boxes of groups of similar ones, (N, 4), and the numbers of those in each, (N,)."""

Field = tuple[str, str, list[str], Any, str, str]
"""An option: its name, its kind ("flag", "whole", "number", "size", "text" or "word"), its words, its default, its type on
the command line, and its help."""

def detection_fields() -> list[Field]: ...
def backend_fields() -> list[Field]: ...
def sample_fields() -> list[Field]: ...
def training_fields() -> list[Field]: ...

Stage = tuple[int, int, int, int, float, float, float, float, float, float, bytes]

def train(
    positives: list[Any],
    negatives: list[Any],
    labels: list[str],
    options: dict[str, Any],
    start: Cascade | None,
    on_stage: Callable[[Stage], bool | None] | None,
) -> tuple[list[Stage], str, bytes, list[str]]:
    """Images are paths, or pairs of an array and boxes. Returns the stages, why training ended, the cascade, and warnings."""

def evaluate(
    annotations: str, cascades: list[str], root: str, labels: list[str], match: str, iou: float, options: dict[str, Any]
) -> tuple[str, list[str]]:
    """Returns what the program writes as JSON, and warnings."""


class Detector:
    def __init__(self, cascade: Cascade, options: dict[str, Any]) -> None: ...
    def detect(self, image: Any, stream: Any = None) -> Arrays: ...
    def detect_all(self, images: list[Any]) -> list[Arrays | str]: ...
    @property
    def times(self) -> dict[str, float]: ...
    @property
    def device_name(self) -> str: ...
    @property
    def remark(self) -> str: ...

class Inputs:
    """What the program finds for INPUT..., as (name, kind, value, version).

    Kinds are "path", "member" (of an archive) and "failure"."""

    def __init__(self, inputs: list[bytes], recursive: bool) -> None: ...
    def next(self, count: int) -> list[tuple[bytes, str, bytes, str]]: ...
    def skip(self, most: int) -> int: ...

class Searcher:
    """Makes the program's records, as JSON lines.

    They are of what Inputs gives (without version), and of (name, "bytes", contents)."""

    def __init__(
        self,
        cascades: list[Cascade],
        names: list[str],
        options: dict[str, Any],
        threads: int,
        max_pixels: int,
        max_seconds: float,
    ) -> None: ...
    def records(self, inputs: Iterable[tuple[bytes, str, bytes]]) -> list[bytes]: ...
    def remarks(self) -> list[str]: ...
    @property
    def device_name(self) -> str: ...

def picture_extensions() -> list[str]: ...
def sat(input: Any, output: Any, squares: bool, exclusive: bool, algorithm: str, stream: Any = None) -> None: ...
def sat_algorithms() -> list[str]:
    """The algorithms for integral images on a device, the fastest first; none in builds without CUDA."""

def scan(input: Any, output: Any, op: str, exclusive: bool, algorithm: str, stream: Any = None) -> None: ...
def scan_algorithms() -> list[str]:
    """The algorithms for prefix scans on a device, the fastest first; none in builds without CUDA."""

def devices() -> list[str]:
    """The names of the CUDA devices that can be used; none in builds without CUDA."""

def version() -> str: ...
def run_program(arguments: list[str]) -> int: ...
