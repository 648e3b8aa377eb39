import pytest

from benchmarks.load.table import HEADINGS, Bound, Clients, Row, cells, rows_table


def row(*holds: bool | None) -> Row:
    bounds = [Bound(f"bound {place}", one) for place, one in enumerate(holds)]
    return Row("LD-01", "SQLite", "what was run", ["10 points/s", "200: 1"], bounds)


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        ((True, True), "yes"),
        ((True, False, None), "**no**: bound 1"),
        ((True, None), "not shown: bound 1"),
        ((), ""),
    ],
)
def test_a_row_holds_only_if_each_of_its_bounds_does(holds, words):
    assert cells(row(*holds))[-1] == words


def test_every_row_has_a_cell_for_each_heading():
    lines = rows_table([row(True), row(False)]).splitlines()

    assert len(lines) == 4
    assert {line.count(" | ") for line in lines} == {len(HEADINGS) - 1}
    assert "10 points/s; 200: 1" in lines[2]


def clients(*, late: float = 0.0, slow: float = 0.0, busy: float = 0.0) -> Clients:
    return Clients(due=10, stored=10, late_seconds=late, slow_seconds=slow, busy=busy)


def test_clients_that_are_late_or_busy_are_called_the_bottleneck():
    assert not clients(late=0.04, slow=0.05).is_bottleneck
    assert not clients(late=0.4, slow=10.0).is_bottleneck
    assert clients(late=0.4, slow=0.5).is_bottleneck
    assert clients(busy=0.95).is_bottleneck
    assert str(clients(busy=0.95)).endswith("**the bottleneck**")
