from __future__ import annotations

import math
from uuid import UUID

import numpy as np
import pytest
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import make_run, write_values
from tracker.models import Attribute
from tracker.queries.runs.packed import (
    PackedIds,
    PackedNumbers,
    Places,
    ids_in,
    numbers_in,
    packed_bytes,
    uuids_in,
)

# Few different halves, so that many ids share one of them.
HALVES = st.sampled_from([0, 1, 2**63, 2**64 - 1])
ALIKE = st.tuples(HALVES, HALVES).map(lambda two: UUID(int=two[0] << 64 | two[1]))
IDS = st.lists(st.one_of(ALIKE, st.uuids()), unique=True)


def packed(ids: list[UUID]) -> bytes:
    return b"".join(each.bytes for each in ids)


@given(IDS, IDS)
def test_each_run_has_one_place_and_others_have_none(runs, others):
    places = Places(ids_in(packed(runs)))
    asked = [*runs, *others]

    found, are_there = places.find(ids_in(packed(asked)))

    assert len(places) == len(runs)
    assert are_there.tolist() == [each in runs for each in asked]
    assert sorted(found[: len(runs)].tolist()) == list(range(len(runs)))


@given(st.lists(st.uuids()))
def test_ids_are_read_back(ids):
    assert uuids_in(packed_bytes(packed(ids))) == ids
    assert uuids_in(packed_bytes("".join(each.hex for each in ids))) == ids


@pytest.mark.django_db
@pytest.mark.database
def test_numbers_stand_as_their_runs_do(project):
    numbers = [0.1, -1e-300, 5e-324, math.inf, -math.inf, 1.7e308, 3.0]
    expected = {}
    for place, number in enumerate(numbers):
        run = make_run(project, f"run {place}")
        write_values(run, {"number": number})
        expected[run.id] = number
    rows = Attribute.objects.filter(path="number").order_by()

    found = rows.aggregate(ids=PackedIds("run_id"), numbers=PackedNumbers(F("number")))
    ids = uuids_in(packed_bytes(found["ids"]))

    assert (
        dict(zip(ids, numbers_in(found["numbers"]).tolist(), strict=True)) == expected
    )


@pytest.mark.django_db
@pytest.mark.database
def test_no_rows_pack_to_empty_bytes():
    found = Attribute.objects.aggregate(
        ids=PackedIds("run_id"), numbers=PackedNumbers(F("number"))
    )

    assert packed_bytes(found["ids"]) == b""
    assert numbers_in(found["numbers"]).tolist() == []
    assert np.shape(ids_in(b"")) == (0, 2)
