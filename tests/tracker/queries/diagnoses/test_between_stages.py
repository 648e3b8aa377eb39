"""The part of a run's time that is in none of its stages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.queries.diagnoses.between_stages import Span, seconds_between

START = datetime(2026, 3, 1, tzinfo=UTC)


def span(start: float | None, end: float | None) -> Span:
    moments = (
        None if s is None else START + timedelta(seconds=s) for s in (start, end)
    )
    return Span(*moments)


def ledger(seconds: float, *, gpus: int = 0) -> Ledger:
    return Ledger(gpus, {Use.COMPUTING: seconds})


RUN = span(0, 60)
STAGES = [span(30, 59), span(1, 25)]
LEDGERS = [ledger(29), ledger(24)]


def test_is_what_stages_leave_of_the_run():
    assert seconds_between(RUN, STAGES, LEDGERS) == pytest.approx(7.0)


def test_a_run_with_one_stage_has_no_time_between_stages():
    assert seconds_between(RUN, [RUN], [ledger(60.2)]) == 0.0


@pytest.mark.parametrize(
    ("run", "stages", "ledgers"),
    [
        (span(0, None), STAGES, LEDGERS),
        (RUN, [span(30, None), STAGES[1]], LEDGERS),
        (RUN, [span(None, 59), STAGES[1]], LEDGERS),
        (RUN, STAGES, LEDGERS[:1]),
        (RUN, STAGES, [ledger(29), None]),
        (RUN, STAGES, [ledger(29), ledger(24, gpus=1)]),
        (RUN, STAGES, [ledger(29), ledger(12)]),
        (RUN, [span(10, 39), STAGES[1]], LEDGERS),
    ],
    ids=[
        "run-goes-on",
        "stage-goes-on",
        "unknown",
        "undiagnosed",
        "no-ledger",
        "gpu",
        "other",
        "overlap",
    ],
)
def test_is_not_told_where_it_would_not_add_up(run, stages, ledgers):
    assert seconds_between(run, stages, ledgers) is None
