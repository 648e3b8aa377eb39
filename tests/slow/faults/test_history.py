"""The checker finds each planted fault, and reports none without faults."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks.kills.history import (
    STREAM_STEPS,
    Event,
    History,
    Layout,
    Outcome,
    Reading,
    value_of,
)

LAYOUT = Layout(points_in_frame=2)
# Frame 1 opens, so five frames hold eight points.
ALL = LAYOUT.steps_up_to(0, 5)


def sent(first, last, *, stream=0, at=0.0):
    return Event(0, stream, Outcome.SENT, first, last, at)


def stored(last, *, stream=0, at=1.0):
    return Event(0, stream, Outcome.STORED, 1, last, at)


def read(steps, *, at=5.0, path="loss", took=1.0):
    steps = np.asarray(steps, float)
    return Reading(0, path, at, at + took, steps, value_of(path, steps))


def found(events, readings):
    """Return the violated guarantees, with their counts."""
    verdict = History(LAYOUT, list(events), list(readings)).check()
    assert verdict.is_kept is not any(asdict(verdict).values())
    return {name: count for name, count in asdict(verdict).items() if count}


KEPT = [sent(1, 3), stored(3), sent(4, 5, at=2.0), stored(5, at=3.0)]


def test_nothing_is_found_where_all_is_well():
    readings = [read(ALL[:4], at=1.5), read(ALL), read(ALL, path="rate")]

    assert found(KEPT, readings) == {}


def test_a_lost_point_is_found():
    # It was acknowledged before the reading, and no frame may be there in part.
    assert found(KEPT, [read(ALL[:-1])]) == {"lost": 1, "stale": 1, "torn": 1}


def test_a_lost_batch_is_found():
    assert found(KEPT, [read(ALL[:4])]) == {"lost": 4, "stale": 4}


def test_all_is_lost_where_nothing_is_read():
    assert found(KEPT, [])["lost"] == len(ALL)


def test_a_series_without_its_points_is_found_beside_a_whole_one():
    readings = [read(ALL), read(ALL[:4], path="rate")]

    assert found(KEPT, readings) == {"lost": 4, "stale": 4, "torn": 1}


def test_a_doubled_point_is_found():
    assert found(KEPT, [read([*ALL, ALL[-1]])]) == {"doubled": 1}


def test_a_doubled_point_of_an_earlier_reading_is_found():
    assert found(KEPT, [read([*ALL, ALL[-1]]), read(ALL, at=9.0)]) == {"doubled": 1}


UNANSWERED = [sent(1, 3), stored(3), sent(4, 5), Event(0, 0, Outcome.UNKNOWN, 4, 5, 9)]


@pytest.mark.parametrize("count", [4, 8], ids=["nothing", "all"])
def test_an_unanswered_batch_may_be_there_as_a_whole_or_not_at_all(count):
    assert found(UNANSWERED, [read(ALL[:count])]) == {}


@pytest.mark.parametrize("count", [5, 6, 7])
def test_a_part_of_an_unanswered_batch_is_found(count):
    assert found(UNANSWERED, [read(ALL[:count])]) == {"torn": 1}


def test_a_batch_that_was_sent_again_in_parts_may_end_where_a_part_did():
    assert found([*UNANSWERED, sent(4, 4)], [read(ALL[:6])]) == {}


def test_a_gap_is_found():
    assert found(UNANSWERED, [read([*ALL[:4], *ALL[6:]])]) == {"torn": 1}


def test_a_point_that_nobody_sent_is_found():
    assert found(KEPT, [read([*ALL, ALL[-1] + 1])])["invented"] == 1


def test_what_was_sent_to_nobody_may_not_be_there():
    events = [sent(1, 3), stored(3)]

    assert found(events, [read(ALL)])["invented"] == 4


def test_an_altered_value_is_found():
    whole = read(ALL)
    values = whole.values.copy()
    values[3] = np.nextafter(values[3], np.inf)

    assert found(KEPT, [replace(whole, values=values)]) == {"altered": 1}


def test_a_value_of_another_series_is_found():
    steps = np.asarray(ALL, float)
    swapped = replace(read(ALL), values=value_of("rate", steps))

    assert found(KEPT, [swapped]) == {"altered": len(ALL)}


def test_a_reading_that_lacks_what_an_earlier_one_had_is_found():
    # Not yet acknowledged, so only the earlier reading shows that it was stored.
    events = [sent(1, 5), stored(5, at=20.0)]
    readings = [read(ALL, at=2.0), read(ALL[:6], at=4.0), read(ALL, at=30.0)]

    assert found(events, readings) == {"backward": 2}


def test_two_readings_at_the_same_time_may_see_different_things():
    events = [sent(1, 5), stored(5, at=20.0)]
    readings = [read(ALL, at=2.0, took=5.0), read([], at=4.0), read(ALL, at=30.0)]

    assert found(events, readings) == {}


def test_a_reading_that_lacks_what_was_acknowledged_before_is_found():
    readings = [read(ALL[:4], at=4.0), read(ALL, at=9.0)]

    assert found(KEPT, readings) == {"stale": 4}


def test_what_is_acknowledged_while_a_reading_is_made_may_lack():
    assert found(KEPT, [read(ALL[:4], at=2.5), read(ALL, at=9.0)]) == {}


def test_steps_that_do_not_ascend_are_found():
    assert found(KEPT, [read(ALL[::-1])]) == {"disordered": 1}


def test_streams_are_told_apart():
    second = LAYOUT.steps_up_to(1, 3)
    events = [*KEPT, sent(1, 3, stream=1), stored(3, stream=1)]

    assert second[0] == STREAM_STEPS
    assert found(events, [read([*ALL, *second])]) == {}
    assert found(events, [read(ALL)]) == {"lost": 4, "stale": 4}
    assert found(events, [read([*ALL, *second[:3]])])["torn"] == 1


def test_it_counts_what_there_was_to_judge():
    events = [*KEPT, sent(1, 2, stream=1), Event(0, 1, Outcome.UNKNOWN, 1, 2, 9.0)]

    count = History(LAYOUT, events, [read(ALL), read(ALL, path="rate")]).count()

    assert (count.sent, count.stored, count.unknown, count.unheard) == (3, 2, 1, 0)
    assert (count.abandoned, count.points, count.readings) == (1, 16, 2)
