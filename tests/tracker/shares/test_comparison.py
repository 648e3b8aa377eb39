"""Share links to comparisons, and their targets."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.builders import make_run
from tracker.actions.runs.trash import move_to_trash
from tracker.actor import Part
from tracker.errors import InvalidInput
from tracker.models import Run, ShareLink
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.shares.comparison import COMPARISON, OF_VALUES, UNSHARED
from tracker.shares.kind import Chosen
from tracker.short_ids import read_id

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(project):
    return [make_run(project, f"run-{number}") for number in range(4)]


def asked_of(project, chosen, *parts) -> dict[str, list[str]]:
    shared = COMPARISON.read(project, [chosen])[chosen.thing]
    query = COMPARISON.kept(chosen.query, frozenset(parts))
    asked = parse_qs(urlsplit(COMPARISON.address(project, shared, query)).query)
    ids = map(read_id, asked["runs"][0].split(","))
    return {**asked, "runs": [str(run_id) for run_id in ids]}


def test_it_opens_as_it_was_but_for_what_is_not_shared(project, runs):
    ids = [str(runs[1].id), str(runs[0].id)]
    unshared = "&".join(f"{name}=secret" for name in UNSHARED)
    of_values = "&".join(f"{name}=a%20value" for name in OF_VALUES)
    told = "dimension=params/lr&dimension=loss"

    chosen = COMPARISON.choose(
        project, f"tab=hardware&runs={','.join(ids)}&{unshared}&{of_values}&{told}"
    )

    assert asked_of(project, chosen) == {"tab": ["hardware"], "runs": ids}
    assert asked_of(project, chosen, Part.CONFIG) == {
        "tab": ["hardware"],
        "runs": ids,
        **{name: ["a value"] for name in OF_VALUES},
        "dimension": ["a value", "params/lr", "loss"],
    }


def test_the_same_runs_in_another_order_are_the_same_thing(project, runs):
    one, other = (
        COMPARISON.choose(project, f"runs={first.id},{second.id}")
        for first, second in (runs[:2], runs[1::-1])
    )

    assert one.thing == other.thing
    assert one.query != other.query


def test_runs_in_the_trash_are_left_out_of_the_address(project, runs):
    chosen = COMPARISON.choose(project, f"runs={runs[0].id},{runs[1].id}")

    move_to_trash(runs[1])

    assert asked_of(project, chosen) == {"runs": [str(runs[0].id)]}


def test_a_comparison_of_many_runs_names_a_few(project, runs):
    chosen = COMPARISON.choose(project, f"runs={','.join(str(r.id) for r in runs)}")

    shared = COMPARISON.read(project, [chosen])[chosen.thing]

    assert shared.title == "run-0, run-1, run-2, … (4)"


def test_a_link_holds_as_many_runs_as_are_compared(project):
    made = Run.objects.bulk_create(
        Run(project=project, name=f"run-{number}") for number in range(RUNS_AT_MOST)
    )
    ids = [str(run.id) for run in made]
    said = "&".join((f"runs={','.join(ids)}", "tab=table", f"text={'x' * 1_000}"))

    chosen, turned = (
        COMPARISON.choose(project, said.replace(*pair))
        for pair in (("", ""), (f"{ids[0]},{ids[1]}", f"{ids[1]},{ids[0]}"))
    )

    assert asked_of(project, chosen)["runs"] == ids
    assert chosen.thing == turned.thing
    for field in ("thing", "query"):
        longest = ShareLink._meta.get_field(field).max_length
        assert len(getattr(chosen, field)) <= longest


def test_a_link_that_was_made_with_whole_ids_is_read(project, runs):
    ids = [str(run.id) for run in runs[:2]]
    made = Chosen(",".join(sorted(ids)), f"runs={'%2C'.join(ids)}&tab=table")

    assert asked_of(project, made) == {"runs": ids, "tab": ["table"]}


def test_more_runs_than_are_compared_are_refused(project):
    ids = ",".join(str(UUID(int=number)) for number in range(RUNS_AT_MOST + 1))

    with pytest.raises(InvalidInput, match=str(RUNS_AT_MOST)):
        COMPARISON.choose(project, f"runs={ids}")


def test_too_many_fields_are_refused(project):
    with pytest.raises(InvalidInput):
        COMPARISON.choose(project, "a=1&" * 99)
