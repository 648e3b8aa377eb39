from __future__ import annotations

import os

import pytest

from tracker.embedded.data_folder import DataFolder, running_url
from tracker.embedded.refusal import Refusal

URL = "http://127.0.0.1:9000"


def test_it_says_where_its_server_answers_only_while_that_runs(tmp_path):
    folder = DataFolder(tmp_path)
    before = running_url(tmp_path)
    folder.acquire(URL)
    during = running_url(tmp_path)
    folder.release()

    assert (before, during, running_url(tmp_path)) == (None, URL, None)


def test_a_second_server_on_the_same_folder_is_refused(tmp_path):
    first = DataFolder(tmp_path)
    first.acquire(URL)

    with pytest.raises(Refusal, match="already running"):
        DataFolder(tmp_path).acquire("http://127.0.0.1:9001")

    assert running_url(tmp_path) == URL
    first.release()


def test_a_folder_is_free_again_after_its_server(tmp_path):
    for _ in range(2):
        folder = DataFolder(tmp_path)
        folder.acquire(URL)
        folder.release()


def test_a_folder_that_is_not_there_is_made_for_its_owner_alone(tmp_path):
    folder = DataFolder(tmp_path / "new/folder")
    folder.acquire(URL)
    folder.release()

    assert (tmp_path / "new/folder").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Refusal, match="cannot be written") as refusal:
        DataFolder(tmp_path / "file/folder").acquire(URL)

    assert "\n" not in str(refusal.value)
    assert "--data" in str(refusal.value)


def test_a_lock_file_with_anything_else_in_it_names_no_server(tmp_path):
    folder = DataFolder(tmp_path)
    folder.acquire(URL)
    os.truncate(tmp_path / "server.lock", 0)

    assert running_url(tmp_path) is None
    folder.release()
