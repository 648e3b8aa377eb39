"""Which file system a folder lies on, from the lines of /proc/self/mountinfo (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

_NETWORK = (
    "nfs",
    "lustre",
    "ceph",
    "gpfs",
    "beegfs",
    "glusterfs",
    "cifs",
    "smb",
    "9p",
    "virtiofs",
    "afs",
    "wekafs",
    "fuse.",
)
# FUSE file systems that are as near as the disk below them.
_LOCAL_FUSE = ("fuse.overlayfs", "fuse.fuse-overlayfs", "fuse.lxcfs", "fuse.bindfs")


class Mount(NamedTuple):
    point: str
    kind: str  # ext4, nfs4, fuse.s3fs, ...
    device: str  # major:minor

    @property
    def is_network(self) -> bool:
        return self.kind.startswith(_NETWORK) and self.kind not in _LOCAL_FUSE


def mount_of(folder: PurePath, text: str) -> Mount | None:
    """Return the mount that holds a folder: the last of the innermost."""
    best: Mount | None = None
    for mount in mounts_in(text):
        point = PurePath(mount.point)
        is_above = folder == point or point in folder.parents
        if is_above and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def mounts_in(text: str) -> Iterator[Mount]:
    """Yield all mounts; lines that are none are passed over."""
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields, kind = left.split(), right.partition(" ")[0]
        if separator and len(fields) >= 5 and kind:  # noqa: PLR2004 - the format
            yield Mount(_unescaped(fields[4]), kind, fields[2])


def _unescaped(text: str) -> str:
    # White space in names is written as octal numbers.
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n")):
        text = text.replace(code, character)
    return text.replace("\\134", "\\")
