"""Records as rows of Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

ERROR = pa.struct([("kind", pa.string()), ("message", pa.string())])


def schema(names_cascades: bool) -> pa.Schema:
    """The columns of a record: width, height and faces are null where there is an error."""
    sides = [(side, pa.int32()) for side in ("x", "y", "width", "height", "neighbors")]
    cascade = [("cascade", pa.string())] if names_cascades else []
    face = pa.struct([*sides, ("score", pa.float64()), *cascade])
    return pa.schema(
        [
            ("image", pa.string()),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("faces", pa.list_(face)),
            ("error", ERROR),
            ("warning", pa.string()),
        ]
    )


def to_table(records: Iterable[bytes], names_cascades: bool) -> pa.Table:
    rows: list[dict[str, Any]] = [json.loads(record) for record in records]
    return pa.Table.from_pylist(rows, schema(names_cascades))
