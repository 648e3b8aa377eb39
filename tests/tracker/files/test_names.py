"""Names in archives cannot leave the target folder."""

from __future__ import annotations

import pytest

from tests.agent.reading.test_downloads import HOSTILE
from tracker.files.names import Distinct, attachment, safe_path, with_ending


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_path_stays_below(name):
    parts = safe_path(name).split("/")

    assert not {"", ".", ".."} & {*parts}
    assert all(len(part.encode()) <= 201 for part in parts)
    assert not set("\\\0:") & set(safe_path(name))


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_header_has_one_line_of_ascii(name):
    header = attachment(name)

    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


def test_equal_names_are_made_distinct():
    distinct = Distinct()
    names = [distinct.add(name) for name in ("a", "A", "a/b", "a", "x/a", "x/a/y", "x")]

    assert len({name.casefold() for name in names}) == len(names)
    folders = {
        "/".join(n.split("/")[:i]) for n in names for i in range(1, n.count("/") + 1)
    }
    assert not folders & {*names}


def test_a_file_keeps_the_ending_it_was_made_of():
    assert with_ending("model/best", "last.pt") == "model/best.pt"
    assert with_ending("model/best.pt", "last.pt") == "model/best.pt"
    assert with_ending("model/best", "README") == "model/best"
