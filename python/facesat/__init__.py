"""Viola-Jones detection with exactly the rectangles of OpenCV's CascadeClassifier, integral images and prefix scans.

A program that used cv2.CascadeClassifier goes on with

    from facesat import CascadeClassifier, data

and new programs use Detector. The names of cascades are those of cascade_names(), such as "frontalface_default" or
"lbp:frontalface"; the path of a file is accepted as well. train() makes cascades for objects of your own.
"""

from . import data
from ._cascade_classifier import (
    CASCADE_DO_CANNY_PRUNING,
    CASCADE_DO_ROUGH_SEARCH,
    CASCADE_FIND_BIGGEST_OBJECT,
    CASCADE_SCALE_IMAGE,
    CascadeClassifier,
    groupRectangles,
)
from ._detector import Detector, Face, Faces
from ._facesat import (
    ArgumentError,
    BackendError,
    CascadeError,
    DeviceError,
    Error,
    OutOfMemory,
    devices,
    sat_algorithms,
    scan_algorithms,
    version,
)
from ._sat import sat
from ._scan import scan
from ._training import TrainedStage, Training, evaluate, train
from .data import cascade_names

__version__ = version()
__all__ = [
    "ArgumentError",
    "BackendError",
    "CASCADE_DO_CANNY_PRUNING",
    "CASCADE_DO_ROUGH_SEARCH",
    "CASCADE_FIND_BIGGEST_OBJECT",
    "CASCADE_SCALE_IMAGE",
    "CascadeClassifier",
    "CascadeError",
    "Detector",
    "DeviceError",
    "Error",
    "Face",
    "Faces",
    "OutOfMemory",
    "TrainedStage",
    "Training",
    "cascade_names",
    "data",
    "devices",
    "evaluate",
    "groupRectangles",
    "sat",
    "sat_algorithms",
    "scan",
    "scan_algorithms",
    "train",
]
