"""Checks of the machine and the settings (pure, but for the readers below)."""

from __future__ import annotations

import resource
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from tracker.integrity.problem import Problem, Severity

MIB = 1024 * 1024
MIN_FREE_BYTES = 200 * MIB
COMFORTABLE_FREE_BYTES = 1024 * MIB
COMFORTABLE_FREE_SHARE = 0.05
FEWEST_FILES = 1_024

# File systems with unreliable locks or write order.
NETWORK_FILE_SYSTEMS = frozenset(
    {
        *(
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "davfs",
            "fuse.cephfs",
            "fuse.gcsfuse",
        ),
        *("fuse.glusterfs", "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
        *("glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs"),
        *("panfs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "wekafs"),
    }
)


def file_system_problems(folder: Path, kind: str) -> Iterator[Problem]:
    if kind in NETWORK_FILE_SYSTEMS:
        yield Problem(
            Severity.ERROR,
            "network-file-system",
            str(folder),
            f"the data folder is on a network file system ({kind})",
            "stop the server and move the folder to a local disk: SQLite's locks do not "
            "hold there, and two writers can destroy the database",
        )


def disk_problems(folder: Path, *, total: int, free: int) -> Iterator[Problem]:
    if free < MIN_FREE_BYTES:
        severity = Severity.ERROR
    elif free < COMFORTABLE_FREE_BYTES or free < total * COMFORTABLE_FREE_SHARE:
        severity = Severity.WARNING
    else:
        return
    yield Problem(
        severity,
        "disk-space",
        str(folder),
        f"{free // MIB:,} MiB of {total // MIB:,} are free",
        "free space, or move the folder: a full disk stops all writes",
    )


def file_limit_problems(soft: int) -> Iterator[Problem]:
    if 0 <= soft < FEWEST_FILES:
        yield Problem(
            Severity.WARNING,
            "file-limit",
            "this process",
            f"only {soft:,} files may be open at once",
            f"raise it to {FEWEST_FILES:,} or more (ulimit -n, or LimitNOFILE in systemd)",
        )


def settings_problems(*, debug: bool) -> Iterator[Problem]:
    if debug:
        yield Problem(
            Severity.ERROR,
            "debug",
            "settings",
            "DEBUG is on, so error pages reveal the server's internals",
            "turn it off",
        )


def secret_file_problems(path: Path, mode: int) -> Iterator[Problem]:
    if stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO):
        yield Problem(
            Severity.ERROR,
            "secret-key-readable",
            str(path),
            "other users of this machine may read the secret key",
            f"run `chmod 600 {path}`; if another user may have read it, delete the file",
        )


def look_at_host(
    folder: Path, *, keeps_database: bool, debug: bool
) -> Iterator[Problem]:
    """Read the state of this machine, and check it."""
    if keeps_database:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
        yield from file_system_problems(folder, file_system_of(folder, mounts))
        usage = shutil.disk_usage(folder)
        yield from disk_problems(folder, total=usage.total, free=usage.free)
    yield from file_limit_problems(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield from settings_problems(debug=debug)
    secret = folder / "secret-key"
    if secret.exists():
        yield from secret_file_problems(secret, secret.stat().st_mode)


def file_system_of(folder: Path, mounts: str) -> str:
    """Return the file system type of the longest mount point that contains the folder."""
    best, kind = -1, ""
    resolved = folder.resolve()
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:  # noqa: PLR2004 - the mount point is the fifth
            continue
        point = Path(fields[4].replace("\\040", " "))
        # Of two mounts at one path, the later one hides the other.
        if resolved.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind
