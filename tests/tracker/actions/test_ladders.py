"""Creation, reordering and deletion of ladders."""

from __future__ import annotations

import pytest

from tests.builders import make_member, make_project, make_run
from tracker.actions.deletions import delete_made
from tracker.actions.ladders import (
    RungRequest,
    arrange_ladder,
    create_ladder,
    put_ladder,
)
from tracker.actions.runs.trash import move_to_trash, restore
from tracker.errors import InvalidInput, NotFound
from tracker.models import Ladder, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def member():
    return make_member("ada")


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def runs(project):
    return [make_run(project, name) for name in ("baseline", "decoded", "workers")]


def wanted(*runs: Run) -> list[RungRequest]:
    return [RungRequest(str(run.id)) for run in runs]


def rungs_of(ladder: Ladder) -> list[tuple[int, str, str]]:
    return [
        (rung.position, rung.run.name, rung.note)
        for rung in ladder.rungs.select_related("run")
    ]


def test_makes_a_ladder_of_runs_in_the_order_given(project, runs):
    ladder = create_ladder(
        project,
        " faster ",
        [RungRequest(str(runs[2].id), " two workers "), RungRequest("baseline")],
    )

    assert ladder.name == "faster"
    assert rungs_of(ladder) == [(0, "workers", "two workers"), (1, "baseline", "")]


def test_a_ladder_that_was_deleted_does_not_come_back(project, runs, member):
    ladder = create_ladder(project, "faster", wanted(*runs))
    delete_made(Ladder.objects.get(id=ladder.id), user_id=member.user_id)

    with pytest.raises(NotFound):
        arrange_ladder(ladder, "slower", wanted(*runs))

    assert not Ladder.objects.exists()


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((0, 2), ["baseline", "decoded", "workers"]),
        ((2, 0), ["workers", "baseline", "decoded"]),
        ((2,), ["decoded", "workers"]),
    ],
)
def test_a_run_in_the_trash_keeps_its_step_on_the_ladder(
    project, runs, order, expected
):
    rungs = [RungRequest(str(run.id), f"note of {run.name}") for run in runs]
    ladder = create_ladder(project, "faster", rungs)
    move_to_trash(runs[1])

    arrange_ladder(ladder, "faster still", [rungs[place] for place in order])
    restore(runs[1])

    assert [(name, note) for _, name, note in rungs_of(ladder)] == [
        (name, f"note of {name}") for name in expected
    ]
    assert [place for place, *_ in rungs_of(ladder)] == list(range(len(expected)))


def test_an_id_wins_over_a_run_that_is_named_like_it(project, runs):
    make_run(project, str(runs[0].id))

    ladder = create_ladder(project, "faster", [RungRequest(str(runs[0].id))])

    assert rungs_of(ladder) == [(0, "baseline", "")]


def test_refuses_a_second_ladder_of_that_name(project, runs):
    create_ladder(project, "faster", wanted(runs[0]))

    with pytest.raises(InvalidInput, match="name is already"):
        create_ladder(project, "faster", wanted(runs[1]))

    assert rungs_of(Ladder.objects.get()) == [(0, "baseline", "")]


def test_putting_twice_is_putting_once(project, runs):
    first = put_ladder(project, "faster", wanted(*runs))
    second = put_ladder(project, "faster", wanted(*runs))

    assert first == second
    assert [name for _, name, _ in rungs_of(second)] == [
        "baseline",
        "decoded",
        "workers",
    ]


def test_putting_again_replaces_the_rungs(project, runs):
    put_ladder(project, "faster", wanted(*runs))

    ladder = put_ladder(project, "faster", [RungRequest("decoded", "decoded ahead")])

    assert rungs_of(ladder) == [(0, "decoded", "decoded ahead")]


def test_rearranges_renames_and_removes_in_one_go(project, runs):
    ladder = create_ladder(project, "faster", wanted(*runs))

    arrange_ladder(ladder, "fastest", wanted(runs[2], runs[0]))

    assert Ladder.objects.get().name == "fastest"
    assert [name for _, name, _ in rungs_of(ladder)] == ["workers", "baseline"]


def test_a_refused_name_leaves_the_rungs_as_they_were(project, runs):
    create_ladder(project, "taken", wanted(runs[0]))
    ladder = create_ladder(project, "faster", wanted(*runs))

    with pytest.raises(InvalidInput, match="name is already"):
        arrange_ladder(ladder, "taken", wanted(runs[0]))

    assert len(rungs_of(ladder)) == len(runs)


def test_deleting_a_ladder_keeps_its_runs(project, runs, member):
    ladder = create_ladder(project, "faster", wanted(*runs))

    delete_made(ladder, user_id=member.user_id)

    assert not Ladder.objects.exists()
    assert Run.objects.count() == len(runs)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("  ", id="blank"),
        pytest.param("x" * 201, id="too long"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("a\ud800", id="half a surrogate pair"),
    ],
)
def test_refuses_a_name_that_cannot_be_kept(project, runs, name):
    with pytest.raises(InvalidInput, match="name"):
        put_ladder(project, name, wanted(runs[0]))


@pytest.mark.parametrize("note", ["a\0b", "x" * 2_001])
def test_refuses_a_note_that_cannot_be_kept(project, runs, note):
    with pytest.raises(InvalidInput, match="note"):
        put_ladder(project, "faster", [RungRequest("baseline", note)])


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "../..", "\u202egnihton", "__proto__"]
)
def test_keeps_strange_names_as_they_are(project, runs, name):
    put_ladder(project, name, [RungRequest("baseline", name)])

    ladder = Ladder.objects.get()
    assert (ladder.name, ladder.rungs.get().note) == (name, name)


def test_refuses_no_runs_and_too_many(project, runs):
    with pytest.raises(InvalidInput, match="rungs must be 1 to 50"):
        put_ladder(project, "faster", [])
    with pytest.raises(InvalidInput, match="rungs must be 1 to 50"):
        put_ladder(project, "faster", [RungRequest("baseline")] * 51)


def test_refuses_a_run_named_twice(project, runs):
    with pytest.raises(InvalidInput, match="each run once"):
        put_ladder(project, "faster", [*wanted(runs[0]), RungRequest("baseline")])


@pytest.mark.parametrize("name", ["unknown", "a\0b", "\ud800"])
def test_a_run_of_no_such_name_is_not_found(project, runs, name):
    with pytest.raises(NotFound, match="run"):
        put_ladder(project, "faster", [RungRequest(name)])

    assert not Ladder.objects.exists()


def test_another_project_s_run_is_not_found(project):
    hidden = make_run(make_project(make_member("mallory")), "secret")

    with pytest.raises(NotFound, match="run"):
        put_ladder(project, "faster", wanted(hidden))


def test_a_run_in_the_trash_is_not_found(project, runs):
    Run.objects.filter(id=runs[0].id).update(trashed_at=runs[0].created_at)

    with pytest.raises(NotFound, match="run"):
        put_ladder(project, "faster", wanted(runs[0]))
