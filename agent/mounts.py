"""On what kind of file system a folder lies."""

from __future__ import annotations

import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
# Their locks or their order of writing cannot be trusted, and they may hang.
NETWORK_FILE_SYSTEMS = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.cephfs"),
        *("fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone"),
        *("fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "ocfs2", "orangefs", "smb2", "smb3", "smbfs", "vboxsf"),
        "wekafs",
    )
)


def file_system_of(folder: Path) -> str:
    """Return the kind of file system that a folder lies on, "" if nobody knows."""
    try:
        device = folder.stat().st_dev
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        # … major:minor root mount-point options … - kind source options
        before, _, after = line.partition(" - ")
        if before.split(" ")[2:3] == [wanted]:
            return after.split(" ")[0]
    return ""
