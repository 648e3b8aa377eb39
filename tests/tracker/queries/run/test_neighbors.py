"""The runs before and after a run."""

import pytest

from tests.builders import SECOND, START, make_member, make_project, make_run
from tracker.actions.deletions import delete_made, restore_made
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.runs.trash import move_to_trash
from tracker.queries.run.neighbors import neighbors_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def started(project, name, seconds):
    return make_run(project, name, started_at=START + seconds * SECOND)


def names(run):
    found = neighbors_of(run)
    return tuple(each and each.name for each in (found.before, found.after))


def test_runs_follow_each_other_as_they_started(project):
    last, first, middle = (
        started(project, name, at) for name, at in (("c", 20), ("a", 0), ("b", 10))
    )

    assert names(first) == (None, "b")
    assert names(middle) == ("a", "c")
    assert names(last) == ("b", None)


def test_runs_that_started_together_have_an_order_all_the_same(project):
    runs = {name: started(project, name, 0) for name in "abc"}

    pairs = [names(run) for run in runs.values()]

    (first,) = [pair for pair in pairs if pair[0] is None]
    (last,) = [pair for pair in pairs if pair[1] is None]
    assert {first[1], last[0]} & set(runs)
    assert len(set(pairs)) == 3


def test_trash_and_other_projects_are_passed_over(project, stranger):
    first, last = started(project, "a", 0), started(project, "c", 20)
    move_to_trash(started(project, "b", 10))
    started(make_project(make_member("bob")), "theirs", 10)

    assert names(first) == (None, "c")
    assert names(last) == ("a", None)


def test_the_last_finished_run_is_compared(project):
    for name, state, at in (("a", "finished", 0), ("b", "finished", 5)):
        make_run(project, name, state, started_at=START + at * SECOND)
    make_run(project, "c", "failed", started_at=START + 7 * SECOND)
    run = started(project, "d", 9)

    found = neighbors_of(run)

    assert (found.before.name, found.compared.name) == ("c", "b")


def ladder_of(project, name, *runs):
    return create_ladder(project, name, [RungRequest(str(run.id)) for run in runs])


def finished(project, name, seconds):
    return make_run(project, name, "finished", started_at=START + seconds * SECOND)


def test_a_rung_is_compared_with_the_rung_before_it_whenever_that_started(project):
    second, base, third, other = (
        finished(project, name, at)
        for at, name in enumerate(("second", "base", "third", "other"))
    )
    ladder_of(project, "older", other, third, base)
    ladder_of(project, "faster", base, second, third)

    found = {run.name: neighbors_of(run) for run in (base, second, third, other)}

    assert found["base"].compared is None
    assert found["base"].before.name == "second"
    assert found["second"].compared.name == "base"
    assert found["third"].compared.name == "second"
    assert found["third"].ladder == "faster"
    assert found["third"].compared.id == second.id
    assert (found["other"].compared, found["other"].ladder) == (None, "older")


def test_rungs_in_the_trash_or_without_an_end_are_passed_over(project):
    base, gone, top = (finished(project, name, 0) for name in ("base", "gone", "top"))
    failed = make_run(project, "failed", "failed", started_at=START)
    ladder_of(project, "faster", base, gone, failed, top)
    move_to_trash(gone)

    assert neighbors_of(top).compared.name == "base"


def test_a_ladder_in_the_trash_says_nothing_until_it_is_back(project, member):
    base, top = (finished(project, name, 0) for name in ("base", "top"))
    between = finished(project, "between", 5)
    last = finished(project, "last", 10)
    ladder_of(project, "older", base, last)
    newest = ladder_of(project, "newest", between, last)
    assert neighbors_of(last).ladder == "newest"

    delete_made(newest, user_id=member.user_id)
    assert neighbors_of(last).ladder == "older"
    assert neighbors_of(last).compared.name == "base"
    restore_made(newest)
    assert neighbors_of(last).compared.name == "between"
    assert neighbors_of(top).ladder == ""


def test_costs_one_statement(project, django_assert_num_queries):
    started(project, "a", 0)
    run = started(project, "b", 10)

    with django_assert_num_queries(1):
        neighbors_of(run)
