import math

import pytest

from benchmarks.load.figures import (
    Exchange,
    View,
    answer_percentile,
    drains,
    errors,
    in_statuses,
    is_shared_fairly,
    percentile,
    points_a_second,
    slowest_page,
)


def exchange(
    sender: str = "one",
    *,
    due: float = 0.0,
    could_begin: float | None = None,
    began: float | None = None,
    ended: float = 1.0,
    status: int = 200,
    points: int = 0,
) -> Exchange:
    could_begin = due if could_begin is None else could_begin
    began = could_begin if began is None else began
    return Exchange(sender, due, could_begin, began, ended, status, points)


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (1, 1), (50, 50), (95, 95), (99, 99), (100, 100)]
)
def test_a_percentile_is_one_of_the_values(percent, value):
    assert percentile(reversed(range(1, 101)), percent) == value


def test_of_few_values_the_99th_percentile_is_the_largest():
    assert percentile([3.0, 1.0, 2.0], 99) == 3.0


def test_of_nothing_there_is_no_percentile():
    assert math.isnan(percentile([], 99))


def test_who_waits_for_the_batch_before_has_waited_for_the_server():
    second = exchange(due=1.0, could_begin=5.0, ended=6.0)

    assert answer_percentile([second], 50) == 5.0
    assert second.late_seconds == 0.0


def test_what_the_client_adds_is_told_apart():
    late = exchange(due=1.0, could_begin=5.0, began=5.5, ended=6.0)

    assert late.late_seconds == 0.5


def test_answers_are_those_of_batches_that_were_stored():
    refused = exchange(ended=9.0, status=429)

    assert answer_percentile([exchange(ended=2.0), refused], 100) == 2.0


def test_the_rate_counts_until_the_last_batch_is_stored():
    made = [
        exchange(ended=11.0, points=100),
        exchange(ended=14.0, points=300),
        exchange(ended=90.0, status=503),
    ]

    assert points_a_second(made, since=10.0) == 100.0
    assert points_a_second(made[2:], since=10.0) == 0.0


def test_a_refusal_is_no_error_and_silence_is_one():
    statuses = [200, 429, 503, 0, 200]

    assert errors(statuses) == 2
    assert in_statuses(statuses) == "no answer: 1, 200: 2, 429: 1, 503: 1"


def test_the_slowest_page_is_named():
    views = [View("runs page", 0.0, 0.2, 200), View("chart", 1.0, 1.5, 200)]

    assert slowest_page(views, 95) == ("chart", 0.5)


def contested() -> list[Exchange]:
    return [
        exchange("many", ended=1.0, points=400),
        exchange("few", ended=2.0, points=20),
        exchange("many", ended=3.0, status=429),
        exchange("few", ended=4.0, points=80),
        exchange("many", ended=5.0, points=40),
        exchange("few", ended=6.0, points=100),
        # The few have gone home.
        exchange("many", ended=20.0, points=1_560),
    ]


def test_each_token_has_its_own_drain():
    found = drains(
        contested(), {"many": 10, "few": 1, "absent": 5}, since=0.0, points_each=200
    )

    assert set(found) == {"many", "few"}
    assert (found["many"].points, found["many"].seconds) == (2_000, 20.0)
    assert (found["many"].refused, found["few"].refused) == (1, 0)
    assert found["many"].share == found["few"].share == 1.0
    assert found["few"].points_a_second == pytest.approx(200 / 6)


def test_fair_is_judged_while_one_is_refused_and_both_are_there():
    found = drains(contested(), {"many": 10, "few": 1}, since=0.0, points_each=200)

    assert found["few"].points_a_client == 180
    assert found["many"].points_a_client == 4
    assert is_shared_fairly(found) is True


def test_it_is_unfair_when_a_client_of_the_few_gets_less_than_one_of_the_many():
    made = [exchange("few", ended=0.5, status=429), *contested()]
    found = drains(made, {"many": 10, "few": 5}, since=0.0, points_each=200)

    assert found["few"].points_a_client == 40
    assert found["many"].points_a_client == 44
    assert is_shared_fairly(found) is False


def test_without_a_refusal_nothing_is_shown():
    made = [e for e in contested() if not e.is_refused]

    found = drains(made, {"many": 10, "few": 1}, since=0.0, points_each=200)

    assert is_shared_fairly(found) is None


def test_a_token_that_got_nothing_has_no_rate():
    made = [exchange("few", status=429), exchange("many", points=10, ended=2.0)]

    found = drains(made, {"many": 1, "few": 1}, since=0.0, points_each=10)

    assert found["few"].points_a_second == 0.0
    assert found["few"].share == 0.0
