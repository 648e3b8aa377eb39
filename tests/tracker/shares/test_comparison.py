"""What a link to a comparison is of, and where it leads."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.builders import make_run
from tracker.actions.trash import move_to_trash
from tracker.errors import InvalidInput
from tracker.shares.comparison import COMPARISON, UNSHARED

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(project):
    return [make_run(project, f"run-{number}") for number in range(4)]


def asked_of(project, chosen) -> dict[str, str]:
    shared = COMPARISON.read(project, [chosen.thing])[chosen.thing]
    address = COMPARISON.address(project, shared, chosen.query)
    return {name: text for name, [text] in parse_qs(urlsplit(address).query).items()}


def test_it_opens_as_it_was_but_for_what_is_not_shared(project, runs):
    ids = f"{runs[1].id},{runs[0].id}"
    unshared = "&".join(f"{name}=secret" for name in UNSHARED)

    chosen = COMPARISON.choose(project, f"tab=hardware&runs={ids}&{unshared}")

    assert asked_of(project, chosen) == {"tab": "hardware", "runs": ids}


def test_the_same_runs_in_another_order_are_the_same_thing(project, runs):
    one, other = (
        COMPARISON.choose(project, f"runs={first.id},{second.id}")
        for first, second in (runs[:2], runs[1::-1])
    )

    assert one.thing == other.thing
    assert one.query != other.query


def test_what_moved_to_the_trash_is_not_named_in_its_address(project, runs):
    chosen = COMPARISON.choose(project, f"runs={runs[0].id},{runs[1].id}")

    move_to_trash(runs[1])

    assert asked_of(project, chosen) == {"runs": str(runs[0].id)}


def test_of_many_runs_a_few_are_named(project, runs):
    chosen = COMPARISON.choose(project, f"runs={','.join(str(r.id) for r in runs)}")

    shared = COMPARISON.read(project, [chosen.thing])[chosen.thing]

    assert shared.title == "4 runs: run-0, run-1, run-2, …"


def test_more_runs_than_a_link_can_hold_are_refused_with_what_to_do(project):
    ids = ",".join(str(UUID(int=number)) for number in range(21))

    with pytest.raises(InvalidInput, match="dashboard"):
        COMPARISON.choose(project, f"runs={ids}")


def test_too_many_fields_are_refused(project):
    with pytest.raises(InvalidInput):
        COMPARISON.choose(project, "a=1&" * 99)
