"""Files that are named by URIs: whatever fsspec reads, or pyarrow where fsspec lacks a package."""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

import fsspec
from fsspec.implementations.arrow import ArrowFSWrapper

from .. import _facesat

Source = tuple[bytes, str, bytes]
"""Name, kind and value, as the Searcher takes them."""

_BUCKETS = ("s3", "s3a", "gs", "gcs")  # their paths are bucket/key, and a key may contain any character
_EXTENSIONS = tuple(_facesat.picture_extensions())


def is_uri(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def is_picture(name: str) -> bool:
    return name.lower().endswith(_EXTENSIONS)


@functools.lru_cache(maxsize=64)
def _file_system(root: str) -> Any:
    try:
        return fsspec.core.url_to_fs(root, use_listings_cache=False)[0]
    except (ImportError, ValueError) as error:
        try:
            from pyarrow.fs import FileSystem

            return ArrowFSWrapper(FileSystem.from_uri(root)[0])
        except Exception:
            raise _facesat.ArgumentError(f"{root} cannot be reached: {error}") from None


def open_uri(uri: str) -> tuple[Any, str]:
    """The file system, and the path within it. Raises ArgumentError if nothing here reads such URIs."""
    scheme, path = uri.split("://", 1)
    fs = _file_system(f"{scheme}://{path.split('/', 1)[0]}")
    return fs, path if scheme in _BUCKETS else fs._strip_protocol(uri)


def reason(error: BaseException) -> str:
    """As the program puts it."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _version(info: dict[str, Any]) -> str:
    """Differs from that of other contents under the same name."""
    change = next(
        (info[key] for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "created") if key in info), ""
    )
    return f"{info.get('size', '')} {change}"


def _s3_files(fs: Any, path: str, recursive: bool) -> Iterator[tuple[str, str]]:
    """Page by page, so that the first of many are there at once."""
    bucket, _, prefix = path.partition("/")
    options = {"Bucket": bucket, "Prefix": prefix, **({} if recursive else {"Delimiter": "/"})}
    while True:
        page = fs.call_s3("list_objects_v2", **options)
        for item in page.get("Contents", []):
            yield f"{bucket}/{item['Key']}", f"{item['Size']} {item['ETag']}"
        if not page.get("IsTruncated"):
            return
        options["ContinuationToken"] = page["NextContinuationToken"]


def _walk(fs: Any, folder: str, recursive: bool) -> Iterator[tuple[str, str]]:
    """Folder by folder, in the order of names."""
    for info in sorted(fs.ls(folder, detail=True), key=lambda info: str(info["name"])):
        name = str(info["name"]).rstrip("/")
        if name.rsplit("/", 1)[-1].startswith(".") or name == folder.rstrip("/"):
            continue
        if info["type"] == "directory":
            if recursive:
                yield from _walk(fs, name, recursive)
        else:
            yield name, _version(info)


def list_pictures(uri: str, recursive: bool) -> Iterator[tuple[str, str, str]]:
    """Name below the URI, URI and version of each picture below it, or of the one that it names."""
    fs, path = open_uri(uri)
    if path.strip("/") and "/" in path.strip("/") and not uri.endswith("/") and not fs.isdir(path):
        yield uri, uri, _version(fs.info(path)) if fs.exists(path) else ""
        return
    folder = path.rstrip("/") + "/"
    scheme = uri.split("://", 1)[0]
    is_s3 = scheme in ("s3", "s3a") and hasattr(fs, "call_s3")
    found = _s3_files(fs, folder, recursive) if is_s3 else _walk(fs, path.rstrip("/") or path, recursive)
    for file, version in found:
        name = file[len(folder) :] if file.startswith(folder) else file.rsplit("/", 1)[-1]
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        if is_picture(name) and not is_hidden:
            yield name, f"{scheme}://{file}" if scheme in _BUCKETS else str(fs.unstrip_protocol(file)), version


def fetch(uri: str) -> bytes:
    """The contents. What may be a passing disturbance is tried again."""
    fs, path = open_uri(uri)
    for pause in (0.2, 1.0, None):
        try:
            return bytes(fs.cat_file(path))
        except (FileNotFoundError, PermissionError, IsADirectoryError):
            raise
        except Exception:
            if pause is None:
                raise
            time.sleep(pause)
    raise AssertionError


def _fetched(name: bytes, contents: concurrent.futures.Future[bytes]) -> Source:
    try:
        return name, "bytes", contents.result()
    except Exception as error:
        return name, "failure", reason(error).encode()


def with_contents(inputs: Iterable[Source], readers: int = 16) -> Iterator[Source]:
    """The same inputs, with the contents of those of the kind "uri", which are read ahead."""
    waiting: collections.deque[Source | tuple[bytes, concurrent.futures.Future[bytes]]] = collections.deque()
    pool: concurrent.futures.ThreadPoolExecutor | None = None

    def next_one() -> Source:
        one = waiting.popleft()
        return one if len(one) == 3 else _fetched(*one)

    try:
        for name, kind, value in inputs:
            if kind == "uri":
                pool = pool or concurrent.futures.ThreadPoolExecutor(readers)
                waiting.append((name, pool.submit(fetch, value.decode())))
            else:
                waiting.append((name, kind, value))
            while len(waiting) > (2 * readers if pool else 0):
                yield next_one()
        while waiting:
            yield next_one()
    finally:
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)
