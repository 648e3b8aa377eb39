import os
from pathlib import Path

import pytest

from seamark.probes.machine.storage import StorageProbe
from tests.agent.queue.test_mounts import MOUNTS


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
    """Return a folder on a network mount, and the file that lists mounts."""
    folder, processes = tmp_path / "mnt", tmp_path / "proc"
    for each in (folder / "train", processes / "self"):
        each.mkdir(parents=True)
    line = b"40 27 0:50 / %b rw - nfs4 server:/export rw\n" % os.fsencode(folder)
    (processes / "self" / "mountinfo").write_bytes(MOUNTS + line)
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


def facts_of_data(tmp_path, name, mounted):
    """Return the facts about a folder mounted with this type and source."""
    folder, process = tmp_path / name, tmp_path / "proc" / "self"
    for each in (folder, process):
        each.mkdir(parents=True)
    line = b"40 27 0:50 / %b rw - %b rw\n" % (os.fsencode(folder), mounted)
    (process / "mountinfo").write_bytes(MOUNTS + line)
    return StorageProbe(data=folder, processes=process.parent).facts()


def test_a_mount_whose_name_is_not_ascii_is_found(tmp_path):
    facts = facts_of_data(tmp_path, "Müller", b"nfs4 server:/export")

    assert facts["facts/storage/data/file_system"] == "nfs4"
    assert facts["facts/storage/data/is_network"] is True


def test_whether_it_is_a_network_is_absent_where_nobody_says(tmp_path):
    facts = facts_of_data(tmp_path, "data", b"fuse /dev/fuse")

    assert facts["facts/storage/data/file_system"] == "fuse"
    assert "facts/storage/data/is_network" not in facts


def test_what_is_mounted_when_it_is_first_asked_is_told(mounted, monkeypatch):
    folder, processes = mounted
    mounts = processes / "self" / "mountinfo"
    later = mounts.read_bytes()
    mounts.write_bytes(MOUNTS)
    statvfs = os.statvfs

    def mount_and_ask(path):
        mounts.write_bytes(later)
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
