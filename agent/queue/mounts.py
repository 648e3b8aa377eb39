"""Determines the file system of a folder and whether it is on a network."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

_MOUNTS = Path("/proc/self/mountinfo")
# File systems of clusters, servers and virtual machine hosts: their locks and write
# order are unreliable, and they may hang.
_NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "beegfs_nodev", "ceph", "cifs", "coda", "davfs"),
        *("dvs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4"),
        *("ocfs2", "orangefs", "panfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs"),
        *("vboxsf", "virtiofs", "vmhgfs", "wekafs"),
    )
)
# FUSE programs of network file systems, by their type names.
_NETWORK_PROGRAMS = frozenset(
    (
        *("afp", "alluxio", "alluxio-fuse", "blobfuse", "blobfuse2", "ceph"),
        *("ceph-fuse", "cephfs", "chubaofs", "cosfs", "cubefs", "curlftpfs", "curvefs"),
        *("cvmfs2", "davfs", "davfs2", "drive", "fuse_dfs", "gcsfuse", "glusterfs"),
        *("goofys", "google-drive-ocamlfuse", "grpcfuse", "hf3fs", "juicefs"),
        *("lizardfs", "mfs", "mfsmount", "mount-s3", "mountpoint-s3", "obsfs", "osxfs"),
        *("ossfs", "quobyte", "rclone", "s3fs", "saunafs", "seaweedfs", "smbnetfs"),
        *("sshfs", "vmhgfs-fuse", "xtreemfs"),
    )
)
# FUSE programs that are as local as the file or folder they mount.
_LOCAL_PROGRAMS = frozenset(
    (
        *("apfs-fuse", "archivemount", "bindfs", "cryfs", "dwarfs", "encfs", "exfat"),
        *("exfat-fuse", "ext2", "fuse-archive", "fuse-ext2", "fuse-overlayfs"),
        *("fuse-zip", "fuse2fs", "fuseiso", "gocryptfs", "lxcfs", "mergerfs"),
        *("mhddfs", "mount-zip", "ntfs", "ntfs-3g", "overlayfs", "shfs", "snapfuse"),
        *("squashfuse", "squashfuse_ll", "unionfs", "unionfs-fuse", "zfs-fuse"),
    )
)
# Sources that name another machine: s3://bucket, //host/share, host:/export,
# mfs#host:9421, me@host:data.
_ELSEWHERE = re.compile(
    r"(?!file:)([a-z][a-z0-9+.-]*://|//[^/]|[^/\s]+:/|[^/\s]+:\d{2,5}(/|$)|[^/\s]+@[^/\s]+:)",
    re.IGNORECASE,
)


class Mount(NamedTuple):
    """A mounted file system."""

    point: str  # path as the system encodes it
    kind: str  # ext4, nfs4, fuse.s3fs, ...
    device: str  # major:minor
    source: str  # /dev/sda1, server:/export, mountpoint-s3, ...

    @property
    def is_network(self) -> bool | None:
        """Whether it is on a network; None if unknown."""
        kind, _, program = self.kind.partition(".")
        if kind != "fuse":
            return self.kind in _NETWORK
        # A FUSE program without a type name may put its name in the source.
        name = (program or self.source.partition("#")[0]).lower()
        if name in _LOCAL_PROGRAMS or name.endswith(".appimage"):
            return False
        if name in _NETWORK_PROGRAMS or _ELSEWHERE.match(self.source):
            return True
        return None


def file_system_of(folder: Path) -> str:
    """Return the type of a folder's file system; "" if unknown."""
    mount = mount_below(folder)
    return "" if mount is None else mount.kind


def mount_below(folder: Path) -> Mount | None:
    """Return the mount of a folder; None if unknown."""
    try:
        device = folder.stat().st_dev
        mounts = _MOUNTS.read_bytes()
    except OSError:
        return None
    numbers = f"{os.major(device)}:{os.minor(device)}"
    return next((m for m in mounts_in(mounts) if m.device == numbers), None)


def mount_of(folder: PurePath, mounts: bytes) -> Mount | None:
    """Return the mount that holds a folder: the last of the innermost (pure)."""
    best: Mount | None = None
    for mount in mounts_in(mounts):
        point = PurePath(mount.point)
        is_above = folder == point or point in folder.parents
        if is_above and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def mounts_in(mounts: bytes) -> Iterator[Mount]:
    """Yield all mounts in /proc/self/mountinfo, skipping invalid lines.

    Names are bytes of any encoding, with white space as octal escapes.
    """
    for line in mounts.split(b"\n"):
        # … major:minor root mount-point options … - kind source options
        left, separator, right = line.partition(b" - ")
        fields, (kind, *rest) = left.split(b" "), right.split(b" ")
        if separator and len(fields) >= 5 and kind:  # noqa: PLR2004 - the format
            yield Mount(
                os.fsdecode(_unescaped(fields[4])),
                _readable(kind),
                _readable(fields[2]),
                _readable(rest[0]) if rest else "",
            )


def _unescaped(name: bytes) -> bytes:
    return re.sub(rb"\\([0-3][0-7]{2})", lambda found: bytes([int(found[1], 8)]), name)


def _readable(name: bytes) -> str:
    return _unescaped(name).decode("utf-8", "replace")
