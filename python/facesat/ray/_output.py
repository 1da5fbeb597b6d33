"""The folder of a job's results: files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import uuid
from typing import Any, Protocol

from .. import _facesat
from . import _storage

_PREFIX = ".facesat-"


class OutputError(_facesat.Error):
    """Results that cannot be written."""


def is_temporary(name: str) -> bool:
    """Is this the name of a file that a job of facesat was writing?"""
    return re.fullmatch(re.escape(_PREFIX) + r"[0-9a-f]{16}-.+\.tmp", name) is not None


class Output(Protocol):
    def prepare(self) -> None:
        """Makes the folder."""

    def names(self) -> list[str]:
        """Of the files in it."""

    def temporaries(self) -> list[str]:
        """Of the files that this job was writing when it was killed."""

    def read(self, name: str) -> bytes: ...

    def commit(self, name: str, contents: bytes) -> None:
        """Writes a file, so that nobody ever sees a part of it under this name."""

    def remove(self, name: str) -> None: ...


class _Temporaries:
    """The names of a job's temporary files, which those of others in the same folder differ from."""

    def __init__(self, manifest: bytes) -> None:
        self._prefix = f"{_PREFIX}{hashlib.blake2b(manifest, digest_size=8).hexdigest()}-"

    def name(self, name: str) -> str:
        return f"{self._prefix}{name}.{uuid.uuid4().hex}.tmp"

    def among(self, names: list[str]) -> list[str]:
        return [name for name in names if name.startswith(self._prefix) and is_temporary(name)]


class _LocalFolder:
    def __init__(self, folder: str, temporaries: _Temporaries) -> None:
        self._folder = folder
        self._temporaries = temporaries

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def prepare(self) -> None:
        os.makedirs(self._folder, exist_ok=True)

    def names(self) -> list[str]:
        return os.listdir(self._folder)

    def temporaries(self) -> list[str]:
        return self._temporaries.among(self.names())

    def read(self, name: str) -> bytes:
        with open(self._path(name), "rb") as file:
            return file.read()

    def commit(self, name: str, contents: bytes) -> None:
        temporary = self._path(self._temporaries.name(name))
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


# A file appears in these when all of it has arrived.
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory")
# A file is renamed in these by one request, which they carry out as a whole. Elsewhere fsspec may copy and delete it.
_WITH_RENAME = ("sftp", "ssh", "hdfs")
_RECOMMENDED = "s3, gs, az, abfs, oss, sftp or hdfs"


class _RemoteFolder:
    def __init__(self, uri: str, temporaries: _Temporaries) -> None:
        self._uri = uri.rstrip("/")
        self._temporaries = temporaries
        scheme = uri.split("://", 1)[0]
        self._is_object_store = scheme in _OBJECT_STORES
        if not self._is_object_store and scheme not in _WITH_RENAME:
            raise _facesat.ArgumentError(
                f"{uri} cannot take results: {scheme}:// is not known to show a file only when all of it is written; "
                f"name a folder, or a URI of {_RECOMMENDED}"
            )

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

    def temporaries(self) -> list[str]:
        return self._temporaries.among(self.names())

    def read(self, name: str) -> bytes:
        return _storage.fetch(f"{self._uri}/{name}")

    def commit(self, name: str, contents: bytes) -> None:
        fs, path = self._open()
        try:
            if self._is_object_store:
                fs.pipe_file(f"{path}/{name}", contents)
            else:
                self._write_and_rename(fs, f"{path}/{self._temporaries.name(name)}", f"{path}/{name}", contents)
        except Exception as error:
            raise OutputError(f"{self._uri}/{name}: {_storage.reason(error)}") from None

    @staticmethod
    def _write_and_rename(fs: Any, temporary: str, file: str, contents: bytes) -> None:
        try:
            fs.pipe_file(temporary, contents)
            fs.mv(temporary, file)
        except Exception:
            with contextlib.suppress(Exception):
                fs.rm_file(temporary)
            # HDFS does not replace a file: another worker may have written the same one.
            if not fs.exists(file) or fs.cat_file(file) != contents:
                raise

    def remove(self, name: str) -> None:
        fs, path = self._open()
        with contextlib.suppress(FileNotFoundError):
            fs.rm_file(f"{path}/{name}")


def output_of(folder: str, manifest: bytes = b"") -> Output:
    """By a path or URI; paths that all nodes use must be absolute.

    manifest: the job's, by which its temporary files are told from those of others.

    Raises ArgumentError for a store where files are not written as a whole: object stores show an object when it has
    arrived, and elsewhere a rename must be atomic, which fsspec's own, a copy, is not.
    """
    temporaries = _Temporaries(manifest)
    return _RemoteFolder(folder, temporaries) if _storage.is_uri(folder) else _LocalFolder(folder, temporaries)
