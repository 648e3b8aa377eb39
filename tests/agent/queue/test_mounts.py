"""Detection of a folder's mount, and whether it is a network file system."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

import pytest

from seamark.queue.mounts import Mount, file_system_of, mount_of

MOUNTS = rb"""22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:40 / /data rw shared:1 master:2 - nfs4 server:/export rw
31 30 0:41 / /data/local rw - xfs /dev/sdb rw
32 27 0:42 / /mnt/my\040bucket rw - fuse.s3fs s3fs rw
33 27 0:43 / /over rw - overlay overlay rw
34 30 0:44 / /data rw - lustre mgs:/fs rw
35 27 0:45 / /mfs rw - fuse mfs\043master:9421 rw
36 27 0:46 / /nameless rw - fuse.sshfs  rw
"""
FUSE_OVER_A_NETWORK = {
    "mountpoint-s3": "fuse",
    "mfs#master:9421": "fuse",
    "https://dav.example.org/x": "fuse",
    "cvmfs2": "fuse",
    "me@host:/data": "fuse.sshfs",
    "bucket": "fuse.gcsfuse",
    "JuiceFS:jfs": "fuse.juicefs",
    "blobfuse2": "fuse.blobfuse2",
    "server:/volume": "fuse.somebodys",
}
LOCAL_FUSE = {
    "squashfuse": "fuse.squashfuse",
    "squashfuse_ll": "fuse.squashfuse_ll",
    "Editor-1.2.AppImage": "fuse.Editor-1.2.AppImage",
    "fuse-overlayfs": "fuse.fuse-overlayfs",
    "/disk1:/disk2": "fuse.mergerfs",
    "disk:10": "fuse.mergerfs",
    "encfs": "fuse.encfs",
    "/home/me/.secret": "fuse.gocryptfs",
    "lxcfs": "fuse.lxcfs",
    "/dev/sdb1": "fuseblk",
    "/dev/sdc1": "fuse.ntfs-3g",
}
UNKNOWN_FUSE = {
    "/dev/fuse": "fuse",
    "": "fuse",
    "somebodys": "fuse",
    "file:///x": "fuse",
    "gvfsd-fuse": "fuse.gvfsd-fuse",
}


def is_network(kind, source=""):
    return Mount("/x", kind, "0:1", source).is_network


@pytest.mark.parametrize(
    ("folder", "kind", "is_network"),
    [
        ("/home/me", "ext4", False),
        ("/data/train", "lustre", True),
        ("/data/local/cache", "xfs", False),
        ("/mnt/my bucket/x", "fuse.s3fs", True),
        ("/over", "overlay", False),
        ("/database", "ext4", False),
        ("/mfs/x", "fuse", True),
        ("/nameless", "fuse.sshfs", True),
    ],
)
def test_the_innermost_mount_holds_a_folder(folder, kind, is_network):
    found = mount_of(PurePath(folder), MOUNTS)

    assert found is not None
    assert (found.kind, found.is_network) == (kind, is_network)


def test_lines_that_are_no_mounts_are_passed_over():
    assert mount_of(PurePath("/x"), b"nonsense\n1 2 3 / / - \n") is None


@pytest.mark.parametrize(
    "name",
    ["/Müller".encode(), b"/M\xfcller", b"/a\x0c\r\xc2\x85b", "/\u2028".encode()],
)
def test_names_of_any_bytes_are_found(name):
    line = b"40 27 0:50 / %b rw - nfs4 server:/export rw\n" % name
    folder = PurePath(os.fsdecode(name + b"/train"))

    found = mount_of(folder, MOUNTS + line)

    assert found is not None
    assert found.kind == "nfs4"


def test_clusters_and_hosts_of_virtual_machines_are_networks():
    kinds = (
        "nfs nfs4 lustre ceph gpfs beegfs cifs smb3 9p virtiofs vboxsf afs wekafs"
        " ocfs2 orangefs pvfs2 davfs panfs"
    )
    assert {kind: is_network(kind) for kind in kinds.split()} == dict.fromkeys(
        kinds.split(), True
    )
    for kind in ("ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "squashfs"):
        assert is_network(kind) is False


def test_a_program_that_is_a_file_system_is_known_by_its_name_or_its_source():
    found = {s: is_network(k, s) for s, k in FUSE_OVER_A_NETWORK.items()}
    assert found == dict.fromkeys(FUSE_OVER_A_NETWORK, True)

    found = {s: is_network(k, s) for s, k in LOCAL_FUSE.items()}
    assert found == dict.fromkeys(LOCAL_FUSE, False)


def test_of_a_program_that_nobody_knows_nothing_is_said():
    found = {s: is_network(k, s) for s, k in UNKNOWN_FUSE.items()}

    assert found == dict.fromkeys(UNKNOWN_FUSE)


def test_the_file_system_of_a_real_folder_is_known():
    assert file_system_of(Path("/proc")) == "proc"
    assert file_system_of(Path("/nowhere/at/all")) == ""
