from itertools import islice

import pytest

from benchmarks.load.pacing import (
    Cut,
    Pace,
    cut_of_backlog,
    cut_while_live,
    retry_seconds,
)


def test_each_client_has_its_own_moment_of_the_interval():
    pace = Pace(clients=4, every_seconds=2.0)

    assert [next(pace.due(client)) for client in range(4)] == [0.0, 0.5, 1.0, 1.5]
    assert list(islice(pace.due(1), 3)) == [0.5, 2.5, 4.5]


def test_nothing_is_due_once_the_time_is_over():
    pace = Pace(clients=3, every_seconds=1.0)

    due = [moment for client in range(3) for moment in pace.due(client, seconds=5.0)]

    assert len(due) == 15
    assert max(due) < 5.0


@pytest.mark.parametrize(
    ("steps_a_second", "every_seconds", "cut"),
    [
        (5, 1.0, Cut(steps_in_batch=5, steps_in_frame=1)),
        (25, 1.0, Cut(steps_in_batch=25, steps_in_frame=6)),
        (1, 5.0, Cut(steps_in_batch=5, steps_in_frame=1)),
        # Never less than a step, however little is logged.
        (0.01, 1.0, Cut(steps_in_batch=1, steps_in_frame=1)),
        # A batch that is shorter than a frame's quarter of a second.
        (40, 0.1, Cut(steps_in_batch=4, steps_in_frame=4)),
    ],
)
def test_a_live_batch_holds_what_was_logged_since_the_last(
    steps_a_second, every_seconds, cut
):
    assert cut_while_live(steps_a_second, every_seconds) == cut


def test_a_short_backlog_has_as_many_batches_as_that_of_an_hour():
    hour = cut_of_backlog(4, 3_600, bytes_a_step=1_000)
    minutes = cut_of_backlog(4, 600, bytes_a_step=1_000)

    # 14.4 million bytes, of which 4 MiB fit.
    assert hour.batches == minutes.batches == 4
    assert hour.steps_in_batch == 3_600
    assert minutes.steps_in_batch == 600


def test_a_backlog_is_cut_without_a_rest():
    cut = cut_of_backlog(3, 100, bytes_a_step=5_000)

    assert cut.batches * cut.steps_in_batch >= 300
    assert cut.batches * (cut.steps_in_batch - 1) < 300


def test_without_a_hint_clients_wait_longer_each_time():
    longest = [retry_seconds(failures, 1.0) for failures in range(9)]

    assert longest[:3] == [0.5, 1.0, 2.0]
    assert longest[-1] == 60.0
    assert retry_seconds(3, 0.0) == retry_seconds(3, 1.0) / 2
