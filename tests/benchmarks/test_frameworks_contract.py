"""Ours gets among a framework's own tests, and what they say is counted."""

from __future__ import annotations

import pytest

from benchmarks import frameworks_contract
from benchmarks.frameworks_contract import (
    PUBLISHED,
    Counts,
    Line,
    NotFetched,
    counted,
    of_published,
    own_tests,
    place_accelerate,
    place_lightning,
    release_of,
    table,
)

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="passes"/>
<testcase classname="a" name="is left out"><skipped/></testcase>
<testcase classname="a" name="fails"><failure/></testcase>
<testcase classname="a" name="breaks"><error/></testcase>
</testsuite></testsuites>"""
LOGGERS = """import pytest
ALL_LOGGER_CLASSES = (
    CSVLogger,
    WandbLogger,
)
def test_loggers_pickle_all(): ...
"""
TRACKERS = """import os
class MyCustomTracker(GeneralTracker):
    example = 1

class CustomTrackerTestCase: ...

class MyRegisteredTracker(GeneralTracker):
    example = 2

class RegisterTrackerClassTest: ...
"""


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(tmp_path):
    """What is needed of both repositories."""
    files = {
        "tests/tests_pytorch/loggers/test_all.py": LOGGERS,
        "tests/test_tracking.py": TRACKERS,
        "src/version.info": "2.6.6\n",
        "src/accelerate/__init__.py": '# Version 2.0, made in 2021\n__version__ = "1.15.0.dev0"\n',
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def test_ours_is_the_only_logger_that_lightning_tests(checkout, scratch):
    text = place_lightning(checkout, scratch).read_text()

    assert "ALL_LOGGER_CLASSES = (SeamarkLogger,)" in text
    assert "WandbLogger" not in text
    assert "def test_loggers_pickle_all" in text


def test_ours_takes_the_place_of_the_examples_of_accelerate(checkout, scratch):
    text = place_accelerate(checkout, scratch).read_text()

    assert "class MyCustomTracker(Ours)" in text
    assert "class MyRegisteredTracker(Ours)" in text
    assert "example" not in text
    assert "class RegisterTrackerClassTest" in text


def test_tests_that_have_changed_are_not_taken_for_ours(checkout, scratch):
    file = checkout / "tests/tests_pytorch/loggers/test_all.py"
    file.write_text("LOGGERS = ()")

    with pytest.raises(NotFetched, match="list of loggers"):
        place_lightning(checkout, scratch)


def test_a_checkout_says_of_which_release_it_is(checkout, tmp_path):
    found = {key: release_of(one, checkout) for key, one in PUBLISHED.items()}

    assert found == {"lightning": "2.6.6", "accelerate": "1.15.0.dev0"}
    assert release_of(PUBLISHED["lightning"], tmp_path) == "of an unknown release"


def test_tests_are_counted_and_those_that_fail_are_named():
    assert counted(REPORT) == Counts(1, 1, ("a::fails", "a::breaks"))


def test_a_line_holds_if_enough_passed_and_nothing_failed():
    lines = [
        Line("enough", "a", "b", Counts(3, 1), least=3),
        Line("too few", "a", "b", Counts(2), least=3),
        Line("failed", "a", "b", Counts(3, 0, ("x",)), least=3),
        Line("not there", "", "b", None, why="no | network"),
    ]

    assert [line.holds for line in lines] == [True, False, False, None]
    text = table(lines)
    assert "| enough | a | b | 3 | 0 | 1 | yes |" in text
    assert "| not there |  | b |  |  |  | not shown: no / network |" in text


def test_what_cannot_be_fetched_is_a_line_that_says_why(monkeypatch, scratch):
    def nobody(*arguments):
        raise NotFetched("https://example: no route")

    monkeypatch.setattr(frameworks_contract, "fetched", nobody)
    monkeypatch.setattr(frameworks_contract, "version_of", lambda *_: "2.6.6")

    line = of_published(PUBLISHED["lightning"], "python", None, scratch)

    assert line.holds is None
    assert "no route" in line.why


def test_each_of_our_files_but_those_of_published_tests_is_run():
    names = {path.name for path in own_tests()}

    assert {"test_torch.py", "test_lightning.py"} <= names
    assert not any("published" in name for name in names)
