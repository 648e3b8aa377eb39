import os
from pathlib import Path, PurePath

import pytest

from agent.probes.mounts import mount_of
from agent.probes.storage import StorageProbe

MOUNTS = r"""22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:40 / /data rw shared:1 master:2 - nfs4 server:/export rw
31 30 0:41 / /data/local rw - xfs /dev/sdb rw
32 27 0:42 / /mnt/my\040bucket rw - fuse.s3fs s3fs rw
33 27 0:43 / /over rw - overlay overlay rw
34 30 0:44 / /data rw - lustre mgs:/fs rw
"""


@pytest.mark.parametrize(
    ("folder", "kind", "is_network"),
    [
        ("/home/me", "ext4", False),
        ("/data/train", "lustre", True),
        ("/data/local/cache", "xfs", False),
        ("/mnt/my bucket/x", "fuse.s3fs", True),
        ("/over", "overlay", False),
        ("/database", "ext4", False),
    ],
)
def test_the_innermost_mount_holds_a_folder(folder, kind, is_network):
    found = mount_of(PurePath(folder), MOUNTS)

    assert found is not None
    assert (found.kind, found.is_network) == (kind, is_network)


def test_lines_that_are_no_mounts_are_passed_over():
    assert mount_of(PurePath("/x"), "nonsense\n1 2 3 / / - \n") is None


def test_folders_say_how_full_their_file_system_is(tmp_path):
    probe = StorageProbe(data=tmp_path)

    sample, facts = probe.sample(0.0), probe.facts()

    assert 0 < sample["storage/data/used_share"] <= 1
    assert facts["facts/storage/data/total_bytes"] > sample["storage/data/used_bytes"]
    assert facts["facts/storage/work/file_system"]


def test_a_folder_that_is_not_there_is_absent():
    probe = StorageProbe(data=Path("/not/there"))

    assert "storage/data/used_share" not in probe.sample(0.0)
    assert "facts/storage/data/total_bytes" not in probe.facts()


def test_data_whose_folder_is_known_later_are_told_then(tmp_path):
    known = []
    probe = StorageProbe(find_data=lambda: known[0] if known else None)
    first, before = probe.sample(0.0), probe.news()
    known.append(tmp_path)

    later, news = probe.sample(10.0), probe.news()

    assert "storage/data/used_share" not in first
    assert before == {}
    assert 0 < later["storage/data/used_share"] <= 1
    assert news["facts/storage/data/file_system"]
    assert probe.news() == {}


@pytest.fixture
def mounted(tmp_path):
    """Return a folder that is mounted over a network, and where that is said."""
    folder, processes = tmp_path / "mnt", tmp_path / "proc"
    for each in (folder / "train", processes / "self"):
        each.mkdir(parents=True)
    lines = f"{MOUNTS}40 27 0:50 / {folder} rw - nfs4 server:/export rw\n"
    (processes / "self" / "mountinfo").write_text(lines)
    return folder, processes


def test_the_file_system_is_that_of_the_data_not_of_a_link_to_them(tmp_path, mounted):
    folder, processes = mounted
    link = tmp_path / "data"
    link.symlink_to(folder / "train")
    named = StorageProbe(data=link, processes=processes)
    found = StorageProbe(find_data=lambda: link, processes=processes)
    found.sample(0.0)

    for facts in (named.facts(), found.news()):
        assert facts["facts/storage/data/file_system"] == "nfs4"
        assert facts["facts/storage/data/is_network"] is True


def test_what_is_mounted_when_it_is_first_asked_is_told(mounted, monkeypatch):
    folder, processes = mounted
    mounts = processes / "self" / "mountinfo"
    later = mounts.read_text()
    mounts.write_text(MOUNTS)
    statvfs = os.statvfs

    def mount_and_ask(path):
        mounts.write_text(later)
        return statvfs(path)

    monkeypatch.setattr(os, "statvfs", mount_and_ask)

    facts = StorageProbe(data=folder, processes=processes).facts()

    assert facts["facts/storage/data/file_system"] == "nfs4"


def test_a_name_that_is_no_folder_says_nothing_of_the_folder_around_it(tmp_path):
    probe = StorageProbe(find_data=lambda: tmp_path / "imagenet-1k")

    assert "storage/data/used_share" not in probe.sample(0.0)
    assert probe.news() == {}


def test_a_folder_that_was_named_beforehand_counts(tmp_path):
    named, found = tmp_path / "named", tmp_path / "found"
    named.mkdir()
    probe = StorageProbe(data=named, find_data=lambda: found)
    probe.sample(0.0)

    assert probe.news() == {}
