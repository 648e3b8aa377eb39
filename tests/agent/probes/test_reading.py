import os

import pytest

from seamark.probes.files import KernelFile, picked, table
from seamark.probes.rates import Growth, Rate, Rates, share
from seamark.probes.reading import Described, Reading, Scope, pattern_of
from seamark.probes.summary import spread


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("gpu/0/power_watts", "gpu/<i>/power_watts"),
        ("facts/gpu/12/name", "facts/gpu/<i>/name"),
        ("gpu/1/mig/3/gpm/x", "gpu/<i>/mig/<j>/gpm/x"),
        ("host/cpu_percent", "host/cpu_percent"),
    ],
)
def test_numbers_of_gpus_are_no_part_of_a_pattern(path, pattern):
    assert pattern_of(path) == pattern


def test_what_another_source_supplies_from_now_on_is_described_anew():
    readings = [Reading("a", "s", Scope.HOST, name, 1.0) for name in ("one", "two")]
    described = Described()
    first = described.add(["a"], readings, {"a": "one"})
    same = described.add(["a"], readings, {"a": "one"})

    later = described.add(["a"], readings, {"a": "two"})

    assert first == "a\ts\thost\t1\tone"
    assert same is None
    assert later == "a\ts\thost\t1\ttwo"


def test_a_count_grows_through_resets():
    growth = Growth()

    assert [growth.of(count) for count in (5, 7, None, 1, 2)] == [0, 2, None, 3, 4]


@pytest.mark.parametrize(
    ("counts", "rates"),
    [
        ([10, 4, 12], [None, None, 1]),
        ([10, 4, 5, 16], [None, None, None, 2]),
        ([10, 4, 5, 6, 8], [None, None, None, None, 2]),
        ([10, 12, 4, 14, 5, 6, 16], [None, 2, None, 1, None, None, 2 / 3]),
    ],
)
def test_a_sum_that_misses_a_part_for_a_while_grows_by_what_is_new(counts, rates):
    rate = Rate(most_missing=2)

    found = [rate.of(count, float(now)) for now, count in enumerate(counts)]

    assert found == rates


def test_each_counter_has_its_own_rate():
    rates = Rates()
    rates.of({"a": 0, "b": None}, 0.0)

    assert rates.of({"a": 4, "b": 1}, 2.0) == {"a": 2, "b": None}
    assert share(1.2) == 1
    assert share(None) is None


def test_one_value_is_its_own_distribution():
    assert set(spread([3.0]).values()) == {3}


def test_a_distribution_has_its_extremes_and_its_mean():
    found = spread([5.0, 1.0, *18 * [2.0]])

    assert (found["min"], found["mean"], found["max"]) == (1, 2.1, 5)
    assert found["p50"] == 2


def test_names_are_found_only_where_lines_begin():
    text = "SwapCached: 9 kB\nCached: 7 kB"

    assert picked(text, ["Cached", "Absent"], ":") == {"Cached": 7}
    assert table("a 1\nb: 2\nc x\n") == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("pieces", "has_long_records", "reads"),
    [
        ([b"a" * 4_000, b"b" * 3_000, b"c" * 90], False, 3),
        ([b"a" * 4_000, b"b" * 3_000, b""], False, 3),
        ([b"a" * 90], False, 1),
        ([b"a" * 1_400, b"b" * 3_400, b"c" * 90, b""], True, 4),
    ],
)
def test_a_file_that_comes_in_pieces_is_read_to_its_end(
    tmp_path, monkeypatch, pieces, has_long_records, reads
):
    path = tmp_path / "file"
    path.touch()
    asked = []

    def pread(_file, _most, place):
        asked.append(place)
        return pieces[len(asked) - 1]

    monkeypatch.setattr(os, "pread", pread)
    file = KernelFile(path, has_long_records=has_long_records)

    assert file.read() == b"".join(pieces).decode()
    assert asked == [sum(map(len, pieces[:n])) for n in range(reads)]


def test_a_file_is_read_anew_each_time_and_may_vanish(tmp_path):
    path = tmp_path / "file"
    path.write_text("x" * 100_000)
    file = KernelFile(path)
    assert len(file.read()) == 100_000
    path.write_text("two")

    assert file.read() == "two"
    file.close()
    path.unlink()
    assert file.read() is None
