"""Logs by stage, rank and stream."""

from web.pages.run_files.log_lists import LogPlace, choices, nearest, place_of

RANKS = [f"monitoring/train/rank-{rank}/stderr" for rank in (1, 2, 10)]
PATHS = ["monitoring/train/stdout", "monitoring/infer/stdout", *RANKS, "logs/mine"]
PLACES = [place_of(path) for path in PATHS]


def test_a_captured_log_says_who_wrote_it_and_where_to():
    assert place_of(RANKS[2]) == LogPlace("train", "10", "stderr")
    assert place_of("monitoring/a/b/stdout") == LogPlace("a/b", "0", "stdout")
    assert place_of("logs/mine") == LogPlace("", "0", "logs/mine")


def test_what_all_have_in_common_is_no_choice():
    (rank,) = choices([place_of(path) for path in RANKS], RANKS[1])

    assert (rank.name, rank.values, rank.chosen) == ("rank", ("1", "2", "10"), "2")


def test_each_difference_is_a_choice():
    found = choices(PLACES, PATHS[1])

    assert [choice.chosen for choice in found] == ["infer", "0", "stdout"]


def test_the_nearest_is_of_the_stage_first_of_all():
    labels = {"stage": "train", "rank": "2", "stream": "stdout"}

    assert PATHS[nearest(PLACES, labels)] == RANKS[1]
    assert PATHS[nearest(PLACES, {"stage": "no", "rank": "x"})] == PATHS[0]
