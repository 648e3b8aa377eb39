"""Builds the SDK's source distribution from the files that this server runs from.

The same files give the same bytes, so that all processes of a server agree.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "agent"
# The thin package `agent`, and the page that PyPI would show.
ALIAS, README = "alias", "README.md"
# Other files in a checkout, such as notes and caches, are not public.
SENT_SUFFIXES = {".py", ".typed"}
SUFFIX = ".tar.gz"
ROOT_FILES = ("pyproject.toml", "LICENSE")
# The first time that a wheel, a ZIP file, can store: 1980-01-01.
MODIFIED_AT = 315_532_800
MODE = 0o644
GZIP_LEVEL = 9


@dataclass(frozen=True, slots=True)
class SourceArchive:
    """A source distribution, as pip downloads it."""

    name: str
    content: bytes
    sha256: str


@cache
def source_archive() -> SourceArchive:
    """Return the SDK's source distribution; each process builds it once."""
    name = archive_name()
    folder = name.removesuffix(SUFFIX)
    files = dict(_files())
    content = _packed({f"{folder}/{path}": files[path] for path in sorted(files)})
    return SourceArchive(name, content, hashlib.sha256(content).hexdigest())


def archive_name() -> str:
    """Return the file name of the archive, which is not built for it."""
    project = _project()
    return f"{project['name']}-{project['version']}{SUFFIX}"


# Any: a table of pyproject.toml.
@cache
def _project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def _files() -> Iterator[tuple[str, bytes]]:
    """Yield the path of each file in the archive, with its content."""
    yield "PKG-INFO", _metadata().encode()
    yield f"agent/{README}", (SOURCES / README).read_bytes()
    for name in ROOT_FILES:
        yield name, (ROOT / name).read_bytes()
    for path in SOURCES.rglob("*"):
        if path.suffix in SENT_SUFFIXES and path.is_file():
            place = path.relative_to(SOURCES)
            package = "agent" if place.parts[0] == ALIAS else "seamark"
            yield f"{package}/{place.as_posix()}", path.read_bytes()


def _metadata() -> str:
    """Return the core metadata, which uv reads in place of a build."""
    project = _project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]),
    ]
    return "\n".join([*lines, ""])


def _packed(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), MODIFIED_AT, MODE
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), GZIP_LEVEL, mtime=0)
