"""The folder of a job's results: files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import Any, Protocol

from .. import _facesat
from . import _storage


class OutputError(_facesat.Error):
    """Results that cannot be written."""


class Output(Protocol):
    def prepare(self) -> None:
        """Makes the folder."""

    def names(self) -> list[str]:
        """Of the files in it."""

    def read(self, name: str) -> bytes: ...

    def commit(self, name: str, contents: bytes) -> None:
        """Writes a file, so that nobody ever sees a part of it under this name."""

    def remove(self, name: str) -> None: ...


def _temporary(name: str) -> str:
    return f".{name}.{uuid.uuid4().hex}.tmp"


def is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


class _LocalFolder:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def prepare(self) -> None:
        os.makedirs(self._folder, exist_ok=True)

    def names(self) -> list[str]:
        return os.listdir(self._folder)

    def read(self, name: str) -> bytes:
        with open(self._path(name), "rb") as file:
            return file.read()

    def commit(self, name: str, contents: bytes) -> None:
        temporary = self._path(_temporary(name))
        try:
            with open(temporary, "xb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path(name))
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise OutputError(f"{self._path(name)}: {error.strerror}") from None

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name))


# A file appears in them when all of it has arrived.
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory")


class _RemoteFolder:
    def __init__(self, uri: str) -> None:
        self._uri = uri.rstrip("/")
        self._is_object_store = uri.split("://", 1)[0] in _OBJECT_STORES

    def _open(self) -> tuple[Any, str]:
        return _storage.open_uri(self._uri)

    def prepare(self) -> None:
        if not self._is_object_store:
            fs, path = self._open()
            fs.makedirs(path, exist_ok=True)

    def names(self) -> list[str]:
        fs, path = self._open()
        try:
            return [str(name).rstrip("/").rsplit("/", 1)[-1] for name in fs.ls(path, detail=False)]
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return _storage.fetch(f"{self._uri}/{name}")

    def commit(self, name: str, contents: bytes) -> None:
        fs, path = self._open()
        try:
            if self._is_object_store:
                fs.pipe_file(f"{path}/{name}", contents)
                return
            temporary = f"{path}/{_temporary(name)}"
            fs.pipe_file(temporary, contents)
            fs.mv(temporary, f"{path}/{name}")
        except Exception as error:
            raise OutputError(f"{self._uri}/{name}: {_storage.reason(error)}") from None

    def remove(self, name: str) -> None:
        fs, path = self._open()
        with contextlib.suppress(FileNotFoundError):
            fs.rm_file(f"{path}/{name}")


def output_of(folder: str) -> Output:
    """By a path or URI; paths that all nodes use must be absolute."""
    return _RemoteFolder(folder) if _storage.is_uri(folder) else _LocalFolder(folder)
