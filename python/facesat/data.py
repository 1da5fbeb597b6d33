"""The folders with OpenCV's 22 cascade files, as cv2.data names them."""

from __future__ import annotations

import os

folder: str = os.path.join(os.path.dirname(__file__), "cascades")

haarcascades: str = os.path.join(folder, "haarcascades", "")
lbpcascades: str = os.path.join(folder, "lbpcascades", "")


def cascade_names() -> list[str]:
    """The names that stand for these files, sorted, such as "eye" and "lbp:frontalface"."""
    kinds = ((haarcascades, "haarcascade_", ""), (lbpcascades, "lbpcascade_", "lbp:"))
    return sorted(
        before + file[len(prefix) : -len(".xml")]
        for kind, prefix, before in kinds
        for file in os.listdir(kind)
        if file.startswith(prefix) and file.endswith(".xml")
    )
