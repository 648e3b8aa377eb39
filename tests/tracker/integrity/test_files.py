"""Missing, damaged and orphaned file contents are reported."""

from __future__ import annotations

import os

import pytest

from tests.builders import make_project, make_run
from tests.tracker.api.v1.test_files import add
from tracker.integrity.files import file_problems

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def content(settings, tmp_path, member):
    """Return the path of the content of a run's file."""
    settings.DATA_FOLDER = tmp_path
    add(make_run(make_project(member)), "model/best", b"weights")
    [path] = (tmp_path / "files").glob("[0-9]*/*/*")
    return path


def codes(*, reads=True):
    return [problem.code for problem in file_problems(reads=reads)]


def test_silent_when_all_is_there(content):
    assert codes() == []


def test_a_missing_content_is_named_with_its_run(content):
    content.unlink()

    [problem] = file_problems(reads=True)

    assert problem.code == "file-missing"
    assert "model/best" in problem.where


def test_a_flipped_bit_is_found_by_reading(content):
    content.write_bytes(b"weighty")

    assert codes() == ["file-damaged"]
    assert codes(reads=False) == []


def test_a_shorter_content_is_found_without(content):
    content.write_bytes(b"weigh")

    assert codes(reads=False) == ["file-damaged"]


def test_a_link_is_not_followed(content, tmp_path):
    content.unlink()
    content.symlink_to("/etc/passwd")

    assert codes() == ["file-unreadable"]


def test_files_without_a_row_are_counted(content):
    stray = content.with_name("ab" + "0" * 62)
    stray.write_bytes(b"")
    assert codes() == []

    os.utime(stray, (0, 0))

    assert codes() == ["file-strays"]
