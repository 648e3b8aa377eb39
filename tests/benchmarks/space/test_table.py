from __future__ import annotations

from collections import Counter

from benchmarks.space.table import HEADS, Sizes, all_hold, parts_of, table, verdicts

PAYLOAD = {"values": 700, "times": 200}
GROWN = Sizes(
    {
        ("tracker_serieschunk", "rows"): 300,
        ("tracker_serieschunk", "TOAST"): 800,
        ("tracker_serieschunk", "indexes"): 50,
        ("tracker_seriesticks", "TOAST"): 100,
        ("tracker_attribute", "rows"): 30,
        ("tracker_attribute", "indexes"): 10,
        ("tracker_journalentry", "index of TOAST"): 400,
        ("tracker_run", "rows"): 5,
        ("pg_statistic", "rows"): -2,
    }
)


def test_every_byte_that_grew_is_in_one_part():
    assert parts_of(PAYLOAD, GROWN).total() == GROWN.total()


def test_heads_are_what_pages_hold_besides_numbers():
    assert parts_of(PAYLOAD, GROWN)[HEADS] == 300 + 800 + 100 - 900


def test_what_the_next_run_takes_again_is_no_cost_of_points():
    told = parts_of(PAYLOAD, GROWN)
    lines = list(table([told, Counter(), Counter()], metrics=10, steps=10))

    whole = next(line for line in lines if "all of these" in line)
    assert "| 12.900 | 0.000 | 0.000 |" in whole
    assert [line for line in lines if "besides" in line] == [
        "| besides: the journal, which is empty | 4.000 | 0.000 | 0.000 |",
        "| besides: all other tables, with their statistics | 0.030 | 0.000 | 0.000 |",
    ]


def test_each_kind_says_whether_a_point_takes_what_it_may():
    told = parts_of(PAYLOAD, GROWN)
    found = [told, Counter(values=20), Counter(values=100)]

    assert list(verdicts(found, 200))[2:] == [
        "| loss | 6.450 | 4 | **no** |",
        "| constant | 0.100 | 0.1 | yes |",
        "| hardware | 0.500 | 2 | yes |",
    ]
    assert not all_hold(found, 200)
    assert all_hold(found, 400)
