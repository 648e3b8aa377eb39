"""What monitoring takes is held against its bound with all that it makes others do."""

from __future__ import annotations

from benchmarks.monitoring import WITHOUT, Taken, bounds_of, table, workers


def taken(words: str, everything: float) -> Taken:
    return Taken(words, 60, 50, 0.001, everything)


def test_what_the_agent_takes_anyway_is_not_counted_and_writing_what_was_read_is():
    found = [taken(WITHOUT, 0.002), taken("a", 0.0049), taken("b", 0.0051)]

    assert [bound.holds for bound in bounds_of(found, 0)] == [None, True, False]


def test_each_gpu_may_add_its_share():
    found = [taken(WITHOUT, 0.002), taken("a", 0.0144)]

    assert [bound.holds for bound in bounds_of(found, 2)] == [None, True]


def test_the_table_says_both_and_whether_the_bound_holds():
    found = [taken(WITHOUT, 0.002), taken("a", 0.0051)]

    *_, first, second = table(found, bounds_of(found, 0)).splitlines()
    assert first == "| no monitoring | 60 | 50 | 0.100 % | 0.200 % |  |  |  |"
    assert second == (
        "| a | 60 | 50 | 0.100 % | 0.510 % | 0.310 % | ≤ 0.3 % with 0 GPUs | **no** |"
    )


def test_workers_are_children_that_are_gone_afterwards():
    import psutil

    def children() -> int:
        return len(psutil.Process().children())

    before = children()
    with workers(2):
        assert children() == before + 2
    assert children() == before
