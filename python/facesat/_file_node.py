"""The text of a cascade file from the tree that OpenCV has parsed it into."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape


def _text(node: Any) -> str:
    if node.isMap():
        return "".join(f"<{key}>{_text(node.getNode(key))}</{key}>" for key in node.keys())
    if node.isSeq():
        children = [node.at(i) for i in range(node.size())]
        if any(child.isMap() or child.isSeq() for child in children):
            return "".join(f"<_>{_text(child)}</_>" for child in children)
        return " ".join(_text(child) for child in children)
    if node.isString():
        return escape(node.string())
    return repr(int(node.real())) if node.isInt() else repr(node.real())


def to_xml(node: Any) -> bytes:
    return f'<?xml version="1.0"?><opencv_storage><cascade type_id="opencv-cascade-classifier">{_text(node)}</cascade></opencv_storage>'.encode()
