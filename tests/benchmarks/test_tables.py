import pytest

from benchmarks.peers.tables import (
    Chart,
    ChartGoal,
    Rate,
    RateGoal,
    Size,
    batches_table,
    charts_table,
    in_bytes,
    rates_table,
    sizes_table,
    table,
)


def cells(markdown: str, label: str) -> list[str]:
    [line] = [line for line in markdown.splitlines() if line.startswith(f"| {label} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


FLOORS = ("floor", "shared")


def rates(*rows: Rate) -> str:
    return rates_table(rows, ours="ours")


def test_rates_are_medians_beside_the_floor_and_ours():
    markdown = rates(
        Rate("floor", [4e6, 2e6, 4e6], 10, floors=FLOORS),
        Rate("shared", [8e6, 4e6, 8e6], 10, floors=FLOORS),
        Rate("ours", [1e6, 9e5, 3e6], 10, floors=FLOORS),
        Rate("peer", [5e4, 5e4, 5e4], 2_000, floors=FLOORS),
    )

    # Of the floor: the median of 1/4, 9/20 and 3/4, rounds being compared in pairs.
    assert cells(markdown, "ours") == [
        *("ours", "1,000", "900 to 3,000", "0.45", "0.23", "1.00", "10", "–", "")
    ]
    assert cells(markdown, "peer") == [
        *("peer", "50.0", "50.0 to 50.0", "0.01", "0.01", "20", "2,000", "–", "")
    ]


def test_what_a_batch_costs_a_server_is_a_median_of_rounds():
    markdown = rates(
        Rate("ours", [1e6, 1e6, 1e6], 10, batch_seconds=[0.0006, 0.0007, 0.0011])
    )

    assert cells(markdown, "ours")[-2] == "700 µs"


def test_each_database_has_a_floor_of_its_own():
    markdown = rates(
        Rate("floor, slow", [2e6], 10),
        Rate("floor, fast", [8e6], 10),
        Rate("ours", [1e6], 10, floors=("floor, slow", "")),
    )

    assert cells(markdown, "ours")[3:5] == ["0.50", "–"]


@pytest.mark.parametrize(
    ("ours", "floor", "server", "said"),
    [
        (6e5, 1e6, 6e4, "yes"),
        (4e5, 1e6, 4e4, "**no**: 0.40 of its floor"),
        (6e5, 1e6, 1e5, "**no**: 6.00 × the best peer"),
    ],
)
def test_what_is_to_be_reached_is_said_of_ours(ours, floor, server, said):
    goal = RateGoal(of_the_floor=0.5, times_a_peer=10.0)
    rows = [
        Rate("floor", [floor], 10, floors=FLOORS),
        Rate("ours", [ours], 10, floors=FLOORS, is_ours=True),
        Rate("served", [server], 10, floors=FLOORS, is_peer_with_server=True),
        # It writes into its own file, which nobody else reads.
        Rate("local", [server * 3], 10, floors=FLOORS),
    ]

    markdown = rates_table(rows, ours="ours", goal=goal)

    assert cells(markdown, "ours")[-1] == said
    assert cells(markdown, "served")[-1] == ""


def test_sizes_of_batches_are_rows():
    ours = Rate("ours", [1e6], 10, floors=FLOORS, is_ours=True)
    broken = Rate("ours", error="it broke", floors=FLOORS, is_ours=True)
    markdown = batches_table(
        {
            "200": [Rate("floor", [4e6], 10), Rate("shared", [5e6], 10), ours],
            "20,000": [Rate("floor", [8e6], 10), Rate("shared", [9e6], 10), broken],
        }
    )

    headings = markdown.splitlines()[0]
    assert headings.startswith("| points in a batch | floor | shared | ours | of its")
    assert cells(markdown, "200") == ["200", "4,000", "5,000", "1,000", "0.25", "0.20"]
    assert cells(markdown, "20,000")[3:] == ["it broke", "–", "–"]


def test_a_peer_that_breaks_is_a_row_that_says_so():
    markdown = rates(Rate("ours", [1.0], 1), Rate("peer", error="pip | failed"))

    assert cells(markdown, "peer")[:2] == ["peer", "pip / failed"]


def test_what_has_no_yardstick_has_no_ratio():
    assert cells(rates(Rate("peer", [2_000.0], 1)), "peer")[3:6] == ["–"] * 3


def test_sizes_stand_beside_reasons():
    markdown = sizes_table(
        [Size("peer", ["1.50", "too slow"], 7)], ["loss", "constant"]
    )

    assert cells(markdown, "peer") == ["peer", "1.50", "too slow", "7"]


def test_what_a_database_keeps_for_later_is_told_apart():
    assert in_bytes(2.0, free=1.75) == "2.00 (0.25 in use)"
    assert in_bytes(2.0, free=0.0) == "2.00"


def test_charts_tell_the_first_answer_from_later_ones():
    markdown = charts_table(
        [
            Chart(
                *("ours", 100, [0.2, 0.4, 0.3], [0.1], [0.01, 0.03, 0.02], 5_000),
                *(10, 10),
            ),
            Chart("peer", 100, [1.0], [0.8], [0.5], 70),
            Chart("other", error="It draws nothing."),
        ],
        ours="ours",
    )

    assert cells(markdown, "ours") == [
        *("ours", "100", "300 ms", "100 ms", "1.00", "20.0 ms", "1.00", "5,000"),
        *("10 of 10", ""),
    ]
    assert cells(markdown, "peer")[3:7] == ["800 ms", "8.00", "500 ms", "25"]
    assert cells(markdown, "other")[1] == "It draws nothing."


def ours(*, another=0.01, again=0.004, answer_bytes=10_000, shown=10) -> Chart:
    times = ([0.05], [another], [again], answer_bytes, 10, shown)
    return Chart("ours", 100, *times, is_ours=True)


def test_a_chart_of_ours_says_whether_it_holds_and_what_does_not():
    goal = ChartGoal(0.02, 200_000, 10)
    slow = Chart("peer", 100, [1.0], [0.05], [0.05], 70, 10, 1, is_peer=True)

    def said(chart: Chart, *others: Chart) -> str:
        return cells(charts_table([chart, *others], ours="ours", goal=goal), "ours")[-1]

    assert said(ours(another=0.005), slow) == "yes"
    assert said(ours()) == "yes"
    assert said(ours(), slow) == "**no**: 5.00 × the best peer"
    assert said(ours(again=0.021)) == "**no**: time"
    assert said(ours(answer_bytes=300_000, shown=9)) == "**no**: bytes, spikes"
    assert cells(charts_table([slow], ours="ours", goal=goal), "peer")[-2:] == [
        "1 of 10",
        "",
    ]


def test_every_row_has_as_many_cells_as_the_heading():
    lines = table(["a", "b", "c"], [["x"], ["x", "y", "z"]]).splitlines()

    assert {line.count("|") for line in lines} == {4}
