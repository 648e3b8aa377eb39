"""The run that a process joins by name."""

from __future__ import annotations

import pytest

from tests.builders import SECOND, START, Process, close_message, make_project
from tracker.actions.runs.parents import set_parent
from tracker.actions.runs.trash import move_to_trash
from tracker.errors import NotFound
from tracker.ingest.launches import _next_name
from tracker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

END = START + 100 * SECOND
AFTER = END + SECOND


@pytest.fixture
def project(member):
    return make_project(member)


def launch(project, name="baseline", *, ends=END, time=START, **opening):
    """Open a process, which ends unless `ends` is None; return its run."""
    process = Process(project, name, time=time)
    process.send([{**process.opening, **opening}])
    if ends is not None:
        process.send([close_message("finished", time=ends)])
    return process.run


def test_a_script_that_starts_again_begins_another_run(project):
    names = [
        launch(project, time=START + n * 200 * SECOND, ends=END + n * 200 * SECOND).name
        for n in range(3)
    ]

    assert names == ["baseline", "baseline-2", "baseline-3"]


def test_ranks_and_stages_of_the_second_launch_share_its_run(project):
    for rank in (0, 1):
        launch(project, rank=rank)
    launch(project, stage="infer")

    again = [
        launch(project, time=AFTER, ends=None, **process)
        for process in ({"rank": 1}, {"rank": 0}, {"stage": "infer"})
    ]

    assert {run.name for run in again} == {"baseline-2"}


@pytest.mark.parametrize(
    ("ends", "time", "opening"),
    [
        pytest.param(None, AFTER, {}, id="while it runs"),
        pytest.param(END, START + 5 * SECOND, {}, id="delivered late"),
        pytest.param(END, AFTER, {"stage": "infer"}, id="another stage"),
        pytest.param(END, AFTER, {"rank": 7}, id="another rank"),
        pytest.param(END, AFTER, {"resume": True}, id="resumed"),
        pytest.param(END, AFTER, {"helper": True}, id="worker of a pool"),
    ],
)
def test_joins_the_run_of_the_name(project, ends, time, opening):
    run = launch(project, ends=ends)

    assert launch(project, time=time, **opening) == run


def test_resumes_the_newest(project):
    launch(project)
    newest = launch(project, time=AFTER, ends=AFTER + SECOND)

    assert launch(project, time=AFTER + 9 * SECOND, resume=True) == newest


def test_passes_over_names_that_others_took(project):
    launch(project, "baseline-2")
    launch(project)

    assert launch(project, time=AFTER).name == "baseline-3"


def test_a_long_name_is_cut(project):
    name = "n" * 255
    launch(project, name)

    assert launch(project, name, time=AFTER).name == "n" * 253 + "-2"


def test_a_run_in_the_trash_is_not_joined(project):
    move_to_trash(launch(project))

    assert launch(project, time=AFTER).name == "baseline-2"


def test_a_running_run_in_the_trash_refuses_its_other_processes(project):
    move_to_trash(launch(project, ends=None))

    with pytest.raises(NotFound):
        launch(project, time=AFTER, rank=1)


def test_children_belong_to_the_newest_parent(project, member):
    launch(project, "search")
    newest = launch(project, "search", time=AFTER)
    child = launch(project, "trial")

    set_parent(child, "search", member.user_id, started_at=None)

    assert Run.objects.get(id=child.id).parent == newest


def test_a_deleted_run_between_leaves_its_number_to_others(project):
    for place in range(3):
        begin = START + 200 * place * SECOND
        launch(project, time=begin, ends=begin + SECOND)
    Run.objects.get(name="baseline-2").delete()

    assert launch(project, time=START + 999 * SECOND).name == "baseline-4"


def test_a_renamed_run_is_still_the_newest_of_its_script(project):
    launch(project)
    second = launch(project, time=AFTER, ends=None)
    Run.objects.filter(id=second.id).update(name="the good one")

    assert launch(project, time=AFTER + SECOND, rank=1) == second


def test_ranks_that_start_at_once_choose_the_same_name(project):
    newest = launch(project)
    other = launch(project, time=AFTER)

    # As another rank does that read before `other` was there.
    assert _next_name(newest, "baseline", 2) == other.name
