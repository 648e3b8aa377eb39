"""The source tab of a run."""

from datetime import UTC, datetime

import pytest

from tests.builders import SECOND, START, make_project, make_run, write_values

pytestmark = pytest.mark.django_db

COMMIT = "3179d2f0a1b2c3d4e5f60718293a4b5c6d7e8f90"
CAPTURED = {
    "git/commit": COMMIT,
    "git/branch": "trunk",
    "git/remote": "https://[redacted]@git.example/team/digits.git",
    "git/root": "/home/ada/digits",
    "git/message": "Load images in the background\n\nThe GPU waited for them.",
    "git/author_time": datetime(2026, 1, 1, 9, tzinfo=UTC),
    "git/is_dirty": True,
    "git/diff": "diff --git a/train.py b/train.py\n--- a/train.py\n+++ b/train.py\n"
    "@@ -1 +1 @@\n-lr = 1\n+lr = '<script>alert(1)</script>'\n",
    "git/untracked": ["data/", "<b>odd</b>"],
    "git/untracked_count": 5,
    "source/script": "/home/ada/digits/train.py",
    "source/text": "import agent\n",
    "source/arguments": "python train.py --lr 0.1",
    "source/folder": "/home/ada/digits",
    "source/python": "3.12.4",
    "source/executable": "/usr/bin/python3",
    "packages/list": "numpy==2.4.6\nodd==1==2\ntorch==2.9.0\nno version",
    "packages/count": 3,
    "packages/loaded/torch": "2.9.0",
    "environment/OMP_NUM_THREADS": "4",
    "facts/os": "Debian GNU/Linux 12",
    "facts/host_memory_bytes": 8 * 1024**3,
    "signals/SIGTERM": datetime(2026, 1, 2, 13, tzinfo=UTC),
}


def write_captured(run, values=CAPTURED, stage="train"):
    write_values(
        run, {f"monitoring/{stage}/{path}": value for path, value in values.items()}
    )


@pytest.fixture
def run(project):
    return make_run(project, state="finished")


@pytest.fixture
def page(client_of, member, run):
    client = client_of(member)

    def read(query=""):
        response = client.get(f"/runs/{run.id}/source{query}")
        assert response.status_code == 200
        return response.content.decode()

    return read


def test_shows_the_commit_and_what_differs_from_it(run, page):
    write_captured(run)
    text = page()

    assert COMMIT[:12] in text
    assert "Load images in the background" in text
    assert "The GPU waited for them." in text
    assert 'diff__line--removed">-lr = 1' in text
    assert "uncommitted changes" in text
    assert "2 of 5, names only" in text


def test_shows_arguments_packages_environment_machine_and_signals(run, page):
    write_captured(run)
    text = page()

    for shown in ("python train.py --lr 0.1", "numpy", "2.4.6", "1==2", "torch 2.9.0"):
        assert shown in text
    for shown in ("OMP_NUM_THREADS", "Debian GNU/Linux 12", "8 GiB", "SIGTERM"):
        assert shown in text


def test_what_scripts_hold_is_shown_as_text(run, page):
    write_captured(run)
    text = page()

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<b>odd" not in text
    assert "style=" not in text


def test_a_clean_commit_says_so(run, page):
    write_captured(run, {"git/commit": COMMIT, "git/is_dirty": False})
    text = page()

    assert "clean" in text
    assert "Uncommitted changes" not in text


def test_what_is_missing_says_why(run, page):
    write_captured(
        run,
        {
            "git/absent": "git is not installed.",
            "source/absent": "A notebook's cells are not captured.",
            "source/notebook": "jupyter",
            "packages/absent": "It cannot be captured: OSError.",
        },
    )
    text = page()

    assert "git is not installed." in text
    assert "jupyter notebook" in text
    assert "cells are not captured" in text
    assert "It cannot be captured: OSError." in text
    assert "No captured variables" in text


def test_a_part_that_was_turned_off_says_so(run, page):
    write_captured(run, {"source/python": "3.12.4"})

    assert page().count("capture was turned off") == 2


def test_a_run_without_any_says_when_it_comes(run, page):
    text = page()

    assert "No source" in text
    assert "SEAMARK_CAPTURE" in text


def test_each_stage_has_its_own(run, page):
    write_captured(run)
    write_values(
        run, {"monitoring/infer/source/arguments": "python infer.py"}, stage="infer"
    )

    assert "python infer.py" in page("?stage=infer")
    assert "python infer.py" not in page("?stage=train")


def test_values_of_other_kinds_at_these_paths_do_no_harm(run, page):
    write_captured(
        run,
        {
            "git/commit": 3,
            "git/diff": 1.5,
            "git/untracked": "text",
            "git/untracked_count": "many",
            "git/author_time": "yesterday",
            "source/script": True,
            "packages/list": ["a", "b"],
            "environment/X": 7,
            "signals/SIGTERM": "soon",
            "facts/host_memory_bytes": "much",
        },
    )

    assert "Commit" in page()


def test_strangers_do_not_see_it(client_of, stranger, run):
    assert client_of(stranger).get(f"/runs/{run.id}/source").status_code == 404


def test_what_differs_from_the_run_before_is_told(run, page, project):
    before = make_run(project, "before", "finished", started_at=START - SECOND)
    write_captured(before)
    write_captured(run, {**CAPTURED, "source/arguments": "python train.py --lr 0.2"})

    text = page().partition("changes-title")[2].partition("</section>")[0]

    assert f'href="/runs/{before.id}/source?stage=train"' in text
    assert "<del>0.1</del>" in text
    assert "<ins>0.2</ins>" in text
    assert "Packages" not in text


def test_the_script_is_compared_line_by_line(run, page, project):
    before = make_run(project, "before", "finished", started_at=START - SECOND)
    write_captured(before, {**CAPTURED, "source/text": "fit(1)\n"})
    write_captured(run, {**CAPTURED, "source/text": "fit(2)\n"})

    text = page()

    assert "Only the script changed." in text
    assert "text-diff__line--removed" in text
    assert "fit(<mark>2</mark>)" in text


def test_another_run_can_be_compared_with(run, page, project):
    # One that failed is not chosen by itself.
    other = make_run(project, "other", "failed")
    write_captured(other)
    write_captured(run)

    assert "No differences." in page(f"?against={other.id}")
    assert "changes-title" not in page()


def test_a_run_of_strangers_is_not_compared_with(run, page, stranger):
    theirs = make_run(make_project(stranger), "theirs", "finished")
    write_captured(theirs)
    write_captured(run)

    assert "changes-title" not in page(f"?against={theirs.id}")


def test_what_is_no_run_is_refused(run, client_of, member):
    write_captured(run)

    asked = client_of(member).get(f"/runs/{run.id}/source?against=me")

    assert asked.status_code == 400


def test_the_command_line_is_a_table_of_arguments_too(run, page):
    write_captured(run)

    table = page().partition("source__arguments")[2].partition("</table>")[0]

    assert ">--lr</th>" in table
    assert ">0.1</td>" in table


def test_a_line_of_the_script_can_be_linked(run, page):
    write_captured(run, {**CAPTURED, "source/text": "one\n<two>\nthree\n"})

    assert (
        'one\n<mark class="source__line" id="line">&lt;two&gt;\n</mark>three'
        in page("?line=2")
    )
    for unknown in ("99", "0", "-1", "x"):
        assert "<mark" not in page(f"?line={unknown}")
