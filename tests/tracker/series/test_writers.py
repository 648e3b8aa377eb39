"""Processes that write a series at the same time, and processes that take over."""

import numpy as np

from tracker.series.writers import (
    MAX_WRITERS,
    Known,
    Logged,
    Process,
    Writer,
    changed,
    strangers,
)

LOSS = 7
NOBODY = Known()


def rank(number, *, process=0):
    return Writer(number, "train", "node-1", process or 100 + number)


def after(*logged, began, before=NOBODY, writers=None):
    """Return the change of a series; `logged` are queues and times of last points."""
    some = [Logged(spool, np.array([LOSS]), last) for spool, last in logged]
    ranks = writers or {spool: rank(place) for place, spool in enumerate(began)}
    processes = {spool: Process(ranks[spool], time) for spool, time in began.items()}
    return changed({LOSS: before}, some, processes).get(LOSS)


def test_the_first_process_is_named():
    found = after(("a", 10), began={"a": 0})

    assert (found.spool, found.writers) == ("a", ())


def test_concurrent_processes_are_listed_as_writers():
    found = after(("a", 10), ("b", 11), began={"a": 0, "b": 1})

    assert found.writers == (rank(0), rank(1))


def test_one_point_of_each_is_enough():
    # As for a value that is measured once, at the end.
    found = after(("b", 100), began={"a": 0, "b": 1}, before=Known("a", 99))

    assert found.writers == (rank(0), rank(1))


def test_a_process_that_began_when_the_other_was_done_takes_over():
    found = after(("b", 50), began={"a": 0, "b": 11}, before=Known("a", 10))

    assert (found.spool, found.writers) == ("b", ())


def test_points_of_an_earlier_process_that_come_late_are_no_second_writer():
    assert after(("a", 10), began={"a": 0, "b": 11}, before=Known("b", 50)) is None


def test_points_of_the_same_time_that_come_late_are():
    found = after(("a", 40), began={"a": 0, "b": 1}, before=Known("b", 50))

    assert found.writers == (rank(0), rank(1))


def test_a_process_that_goes_on_in_another_spool_is_one():
    same = {"a": rank(0), "b": rank(0)}
    found = after(
        ("b", 50), began={"a": 0, "b": 0}, before=Known("a", 10), writers=same
    )

    assert (found.spool, found.writers) == ("b", ())


def test_ranks_that_were_started_again_are_added_and_the_earlier_stay():
    before = Known("a", 10, (rank(0), rank(1)))
    again = {"a": rank(0), "c": rank(0, process=3), "d": rank(1, process=4)}
    found = after(
        ("c", 20),
        ("d", 21),
        began={"a": 0, "c": 11, "d": 12},
        before=before,
        writers=again,
    )

    assert set(found.writers) == {*before.writers, again["c"], again["d"]}


def test_known_writers_are_no_change():
    before = Known("a", 10, (rank(0), rank(1)))

    assert after(("b", 12), ("a", 13), began={"a": 0, "b": 1}, before=before) is None


def test_the_list_of_writers_is_limited():
    names = [f"spool {number}" for number in range(MAX_WRITERS + 9)]
    logged = [(name, 10) for name in names]

    found = after(*logged, began=dict.fromkeys(names, 0))

    assert len(found.writers) == MAX_WRITERS


def test_unknown_processes_are_no_writers():
    assert after(("b", 12), began={}, before=Known("a", 10)) is None


def test_only_series_that_others_log_to_are_looked_at():
    logged = [Logged("a", np.array([1, 2, 3, 4]), 10)]

    assert strangers({1: "a", 2: "b", 3: None}, logged) == {2, 3}
