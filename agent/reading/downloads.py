"""Downloads files of stored runs; never writes outside the requested folder.

The server's response is not trusted: names are sanitized, links are not followed, and a
content must match its digest.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO

from seamark.errors import CannotRead, InvalidSetting

# Policies for the other files if one has not arrived.
_MISSING = ("raise", "skip")
_READ_BYTES = 1024 * 1024
_LONGEST = 200  # bytes of a path component; file systems allow 255
# Characters that some operating system rejects or interprets.
_BAD = re.compile(
    r"[\x00-\x1f\x7f<>:\"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class StoredFile:
    """A file of a stored run; `is_stored` is whether its content has arrived."""

    path: str
    name: str
    size: int  # bytes
    media_type: str
    digest: str  # SHA-256, hexadecimal
    is_stored: bool


class StoredFiles:
    """The file at a path of a stored run, or all files under it."""

    def __init__(
        self,
        path: str,
        *,
        list_files: Callable[[str], list[StoredFile]],
        read: Callable[[StoredFile], BinaryIO],
    ) -> None:
        self._path = path
        self._list_files = list_files
        self._read = read

    def __repr__(self) -> str:
        return f"<StoredFiles {self._path!a}>"

    def download(
        self, to: str | os.PathLike[str] = ".", *, missing: str = "raise"
    ) -> list[Path]:
        """Write the file, or all files, and return their paths.

        A single file is written into `to` if that is a folder or ends with a slash,
        otherwise to `to` itself. Several files keep their paths relative to this one.
        Names that are invalid on disk are changed; nothing is written outside `to`.

        Args:
            to: A folder, or the path of a single file; existing files are replaced.
            missing: What to do if the content of a file has not arrived: `raise` writes
                nothing, `skip` writes the other files.

        Raises:
            CannotRead: There is no file, it has not arrived, or its digest differs.
            InvalidSetting: `missing` has another value.
            OSError: A file cannot be written.
        """
        if missing not in _MISSING:
            raise InvalidSetting("missing", f"must be one of {', '.join(_MISSING)}")
        here, many = self._found()
        if missing == "raise":
            _refuse_absent([*here, *many])
        if len(here) == 1 and not many:
            return [self._download_one(file, to) for file in here if file.is_stored]
        folder = Folder(Path(to))
        # Each picture of a series has its step in its name.
        named = [(file.name, file) for file in here]
        at_path = Counter(file.path for file in many)
        named += [
            (_below(file, self._path, is_series=at_path[file.path] > 1), file)
            for file in many
        ]
        return [
            self._fetch(file, folder.made(name))
            for name, file in named
            if file.is_stored
        ]

    def _found(self) -> tuple[list[StoredFile], list[StoredFile]]:
        """Return the file or pictures at the path, and the files under it."""
        found = self._list_files(self._path)
        one = [file for file in found if file.path == self._path]
        start = f"{self._path}/" if self._path else ""
        many = [file for file in found if file.path.startswith(start)]
        if not one and not many:
            raise CannotRead("not_found", f"The run has no file at {self._path!a}.")
        return one, many

    def _download_one(self, file: StoredFile, to: str | os.PathLike[str]) -> Path:
        place = Path(to)
        if place.is_dir() or os.fspath(to).endswith("/"):
            return self._fetch(file, Folder(place).made(safe_name(file.name)))
        place.parent.mkdir(parents=True, exist_ok=True)
        return self._fetch(file, place)

    def _fetch(self, file: StoredFile, place: Path) -> Path:
        fetch(file, place, lambda: self._read(file))
        return place


def _refuse_absent(files: list[StoredFile]) -> None:
    missing = [file.path for file in files if not file.is_stored]
    if not missing:
        return
    others = f" and {len(missing) - 1:,} more have" if missing[1:] else " has"
    hint = "; missing='skip' takes the others" if len(missing) < len(files) else ""
    raise CannotRead("not_arrived", f"{missing[0]!a}{others} not arrived yet{hint}.")


def safe_name(name: str) -> str:
    """Return a safe path component."""
    cleaned = _BAD.sub("_", name)
    cleaned = cleaned.encode()[:_LONGEST].decode("utf-8", "ignore").rstrip(". ")
    if _RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    return cleaned or "_"


class Folder:
    """A folder under which files are written safely, whatever their names."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._taken: set[str] = set()

    def made(self, path: str) -> Path:
        """Return the path for a file of this name; creates its parent folders."""
        *folders, name = [safe_name(part) for part in path.split("/") if part] or ["_"]
        place = self._place
        place.mkdir(parents=True, exist_ok=True)
        for folder in folders:
            place = self._below(place, folder)
        return self._free(place, name)

    def _below(self, place: Path, name: str) -> Path:
        for candidate in _variants(name):
            found = place / candidate
            with suppress(FileExistsError):
                found.mkdir()
            # A link could lead anywhere, and a file may already have the name.
            if stat.S_ISDIR(found.lstat().st_mode):
                return found
        raise AssertionError

    def _free(self, place: Path, name: str) -> Path:
        """Return a path that no other file of this download has and that is not a
        folder.
        """
        for candidate in _variants(name):
            found = place / candidate
            # Some file systems ignore case.
            key = str(found).casefold()
            if key not in self._taken and not (
                found.is_dir() and not found.is_symlink()
            ):
                self._taken.add(key)
                return found
        raise AssertionError


def fetch(file: StoredFile, place: Path, read: Callable[[], BinaryIO]) -> None:
    """Write a content to a path atomically."""
    aside = place.with_name(f".{uuid.uuid4().hex}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(aside, flags, 0o666), "wb") as to, read() as answer:
            digest = _copied(answer, to, most_bytes=file.size)
        if digest != file.digest:
            raise CannotRead(
                "digest_differs",
                f"The download of {file.path!a} has the wrong checksum.",
            )
        # Replaces a link itself, not its target.
        aside.replace(place)
    finally:
        with suppress(OSError):
            aside.unlink()


def _copied(answer: BinaryIO, to: BinaryIO, *, most_bytes: int) -> str:
    total = hashlib.sha256()
    left = most_bytes
    # One extra byte is enough to detect a content that is too long.
    while data := _read(answer, min(_READ_BYTES, left + 1)):
        left -= len(data)
        if left < 0:
            break
        total.update(data)
        to.write(data)
    return total.hexdigest() if left == 0 else ""


def _read(answer: BinaryIO, most_bytes: int) -> bytes:
    try:
        return answer.read(most_bytes)
    except (OSError, HTTPException) as error:
        raise CannotRead("no_answer", f"The response was cut off ({error}).") from error


def _below(file: StoredFile, path: str, *, is_series: bool) -> str:
    """Return a name relative to a path, with the extension of the original file."""
    name = file.path[len(path) :].strip("/")
    if is_series:
        folder, slash, _ = name.rpartition("/")
        return f"{folder}{slash}{safe_name(file.name)}"
    ending = Path(safe_name(file.name)).suffix
    return name if "." in name.rpartition("/")[2] else name + ending


def _variants(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.rpartition(".")
    number = 2
    while True:
        yield f"{stem} ({number}).{ending}" if dot and stem else f"{name} ({number})"
        number += 1
