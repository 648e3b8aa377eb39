from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks.growth.derivation import Costs, Memory
from benchmarks.growth.installation import POSTGRESQL, SQLITE
from benchmarks.growth.measures import SHAPES, Kept, Live, Measured, Plan, Reading
from benchmarks.growth.page import in_bytes, in_digits, page
from benchmarks.peers.workload import HARDWARE, LOSS

COSTS = Costs(
    web=2.0, worker=1.0, database=1.0, sent_bytes=4, logged_bytes=10, kept_bytes=5
)
MEASURED = Measured(
    bulk=dict.fromkeys(SHAPES, COSTS),
    live=Live(4, replace(COSTS, web=20.0), idle_share=0.02),
    kept={LOSS: Kept(9e6, 4.5), HARDWARE: Kept(9e6, 2.25)},
    readings=[Reading("a chart", web=0.004, database=0.001)],
    memory=Memory(web=80e6, worker=90e6, database=20e6, connection=8e6),
    compaction_bytes=100e6,
    scheduler_bytes=70e6,
)
BOTH = {
    SQLITE: replace(MEASURED, live=Live(4, replace(COSTS, database=0.0), 0.01)),
    POSTGRESQL: MEASURED,
}


def written(measured: dict[str, Measured]) -> list[str]:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    return "\n".join(
        page(measured, Plan(), machine="a machine", when=when)
    ).splitlines()


def cells(label: str, *, place: int = 0) -> list[str]:
    rows = [line for line in written(BOTH) if line.startswith(f"| {label} |")]
    return [cell.strip() for cell in rows[place].strip("|").split("|")]


def test_a_fleet_is_a_row_with_what_it_carries():
    # 0.9 × 16 / 2 cores over 22 seconds a million points.
    assert cells("1 machine, PostgreSQL")[1:4] == ["1,100", "330,000", "cores"]
    assert cells("1 machine, SQLite")[3] == "the web process"


def test_ranks_are_told_of_ranks_only():
    assert cells("1 machine, PostgreSQL", place=2)[1:3] == ["1,800,000", "cores"]


def test_sqlite_has_no_cost_of_its_own():
    assert cells("SQLite, live ranks")[3] == "in the others"
    assert cells("PostgreSQL, live ranks")[1:4] == ["20.00", "1.00", "1.00"]


def test_tables_are_whole():
    widths: set[int] = set()
    for line in written(BOTH):
        if not line.startswith("|"):
            widths.clear()
            continue
        widths.add(line.count("|"))
        assert len(widths) == 1


def test_one_database_makes_a_page_too():
    assert "SQLite" not in "".join(
        line for line in written({POSTGRESQL: MEASURED}) if line.startswith("|")
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0123, "0.012"),
        (1.26, "1.3"),
        (126.0, "130"),
        (1_234_567.0, "1,200,000"),
    ],
)
def test_figures_have_two_digits(value, text):
    assert in_digits(value) == text


def test_bytes_have_the_unit_that_suits():
    assert in_bytes(1.26e15) == "1.3 PB"
    assert in_bytes(12.6e12) == "13 TB"
    assert in_bytes(5e8) == "500 MB"
