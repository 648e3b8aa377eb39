"""A live chart with incremental requests shows the same as one with full requests."""

from __future__ import annotations

from itertools import count

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import START, make_run, write_series
from tests.tracker.api.v1.answers import put_together
from tracker.models import Run
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ADDRESS = "/api/v1/projects/ada-workspace/vision/series"
names = count()

one_fixture_for_all_examples = hypothesis.settings(
    max_examples=10,
    suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
    ],
)
lengths = st.integers(1, 400)
values = st.sampled_from([0.1, -2.5, np.nan, np.inf, 1e-30, 7.0])
changes = st.one_of(
    st.tuples(st.just("on"), lengths, values),
    st.tuples(st.just("late"), lengths, values),
    st.tuples(st.just("again"), st.integers(1, 3), values),
    st.tuples(st.just("compact"), st.none(), st.none()),
    st.tuples(st.just("start"), st.none(), st.none()),
)


@pytest.fixture
def ask(reader, monkeypatch):
    """Return a function that requests both series of a run."""
    # Forces some lines to be drawn from overviews.
    monkeypatch.setattr("tracker.series.lines.DECODED_POINTS", 300)

    def get(run, since, kind, axis):
        query = {"run": str(run.id), "path": ["a", "b"], "axis": axis, "buckets": 20}
        return reader.get(ADDRESS, query | {"since": since, "format": kind})

    return get


class Logging:
    """Logs to a run like scripts: continuously, sometimes late, or a step again."""

    def __init__(self, run):
        self.run = run
        self.next = 1_000

    def change(self, name, number, value):
        if name == "compact":
            compact_run(self.run.id)
        elif name == "start":
            Run.objects.filter(id=self.run.id).update(started_at=None)
        else:
            first = {"on": self.next, "late": 0, "again": self.next - number}[name]
            self.log("a", first, number, value)
            if name == "on":
                self.log("b", first, number, value)
                self.next += number

    def log(self, path, first, length, value):
        steps = first + np.arange(length)
        numbers = np.sin(steps)
        numbers[length // 2] = value
        write_series(
            self.run, path, numbers, steps=steps, times=START + steps * 1_000_000
        )


@pytest.mark.parametrize("kind", ["json", "binary"])
@pytest.mark.parametrize("axis", ["step", "relative"])
@one_fixture_for_all_examples
@given(st.lists(changes, min_size=1, max_size=6))
def test_incremental_responses_add_up_to_a_full_response(
    ask, project, kind, axis, script
):
    logging = Logging(make_run(project, f"run-{next(names)}"))
    head, lines = put_together(ask(logging.run, "", kind, axis), kind, None)

    for change in script:
        logging.change(*change)
        head, lines = put_together(
            ask(logging.run, head["since"], kind, axis), kind, lines
        )

    fresh, wanted = put_together(ask(logging.run, "", kind, axis), kind, None)
    assert fresh["since"] == head["since"]
    for line, other in zip(lines, wanted, strict=True):
        for name in ("x", "mean", "minimum", "maximum"):
            np.testing.assert_array_equal(getattr(line, name), getattr(other, name))


@pytest.mark.parametrize("kind", ["json", "binary"])
def test_a_growing_line_of_buckets_is_mostly_kept(ask, project, kind):
    logging = Logging(make_run(project))
    logging.change("on", 400, 0.1)
    head, lines = put_together(ask(logging.run, "", kind, "step"), kind, None)

    kept = []
    for _ in range(20):
        logging.change("on", 10, 0.1)
        head, lines = put_together(
            ask(logging.run, head["since"], kind, "step"), kind, lines
        )
        assert len(lines[0].x) <= 21
        kept.append(head["series"][0]["keep"])

    # Half as many points again change the bucket width at most twice, which needs two or three
    # full responses.
    assert sum(keep == 0 for keep in kept) <= 3
    assert np.median(kept) >= 14


def test_a_late_point_sends_the_whole_line(ask, project):
    logging = Logging(make_run(project))
    logging.change("on", 30, 0.1)
    head, lines = put_together(ask(logging.run, "", "json", "step"), "json", None)
    logging.log("a", 1_005, 1, 9.0)

    head, lines = put_together(
        ask(logging.run, head["since"], "json", "step"), "json", lines
    )

    late, other = head["series"]
    assert (late["keep"], other["keep"]) == (0, 30)
    assert lines[0].mean.tolist().count(9.0) == 1
