import pytest

from tests.web.figures.plotly_schema import DrawnLine
from web.figures.hardware import (
    MAX_GPUS,
    Measurement,
    each_gpu_rows,
    hardware_rows,
    is_drawn,
    limit_note,
    scale_of,
)
from web.figures.hardware_kinds import EACH_GPU, NO_GPU, NO_STEPS


def measured(measure, values=(1.0, 2.0), rank=0):
    return Measurement(measure, rank, DrawnLine(list(values)))


def titles(hardware):
    return [row.title for row in hardware.rows]


def test_kinds_that_were_not_measured_are_named():
    found = hardware_rows([measured("job/cpu_cores")], {})

    assert titles(found) == ["CPU cores in use"]
    assert NO_GPU in found.absent
    assert NO_STEPS in found.absent


def test_every_gpu_is_a_reading_in_the_order_of_its_number():
    measures = [measured(f"gpu/{n}/utilization_percent") for n in (10, 2, 0)]

    (row,) = hardware_rows(measures, {}).rows

    assert [reading.name for reading in row.readings] == ["GPU 0", "GPU 2", "GPU 10"]


def test_a_reading_of_several_stages_is_one_reading():
    (row,) = hardware_rows(
        [measured("job/cpu_cores"), measured("job/cpu_cores")], {}
    ).rows

    assert [len(reading.lines) for reading in row.readings] == [2]


def test_ranks_are_told_apart_where_there_are_several():
    measures = [measured("job/cpu_cores"), measured("job/cpu_cores", rank=1)]

    (row,) = hardware_rows(measures, {}).rows

    assert [reading.name for reading in row.readings] == [
        "all processes, rank 0",
        "all processes, rank 1",
    ]


@pytest.mark.parametrize(
    ("unit", "largest", "shown"),
    [
        pytest.param("B", 3 * 2**30, (2.0**-30, "GiB"), id="bytes"),
        pytest.param("B/s", 2_000, (2.0**-10, "KiB/s"), id="bytes per second"),
        pytest.param("B", 2.0**60, (2.0**-40, "TiB"), id="more than we have words for"),
        pytest.param("s", 0.25, (1000, "ms"), id="short"),
        pytest.param("s", 12, (1, "s"), id="long"),
        pytest.param("cores", 3, (1, "cores"), id="as it is"),
        pytest.param("B", 0, (1, "B"), id="nothing"),
    ],
)
def test_units_suit_the_largest_reading(unit, largest, shown):
    assert scale_of(unit, largest) == shown


def test_a_limit_is_drawn_where_it_can_be_seen_and_always_told():
    near = hardware_rows([measured("job/memory_bytes", [6e9])], LIMIT).rows[0]
    far = hardware_rows([measured("job/memory_bytes", [6e7])], LIMIT).rows[0]

    assert near.limit == pytest.approx(8)
    assert near.top > 8
    assert near.note == "(limit 8)"
    assert far.limit is None
    assert far.note.startswith("(limit ")


LIMIT = {"facts/memory_limit_bytes": 8 * 2**30}


def test_readings_without_a_number_make_a_row_all_the_same():
    (row,) = hardware_rows([measured("job/cpu_cores", [float("nan")])], {}).rows

    assert row.unit == "cores"


@pytest.mark.parametrize(
    ("measure", "drawn"),
    [
        ("gpu/7/power_watts", True),
        ("job/cpu_cores", True),
        ("step/phase/forward_seconds", False),
        ("gpu/x/power_watts", False),
        ("facts/host", False),
    ],
)
def test_knows_what_has_a_row(measure, drawn):
    assert is_drawn(measure) is drawn


def test_each_gpu_has_a_row_and_all_have_one_axis():
    memory = [
        measured("gpu/10/memory_used_bytes", (2.0**30, 2.0**31)),
        measured("gpu/2/memory_used_bytes", (2.0**20, 2.0**29)),
    ]

    found = each_gpu_rows(memory, EACH_GPU["memory_used_bytes"], {})

    assert titles(found) == ["GPU 2", "GPU 10"]
    assert {(row.unit, row.top) for row in found.rows} == {("GiB", 2 * 1.06)}
    assert {reading.scale for row in found.rows for reading in row.readings} == {2**-30}


def test_ranks_have_gpus_of_their_own():
    measures = [measured("gpu/0/power_watts", rank=rank) for rank in (1, 0)]

    found = each_gpu_rows(measures, EACH_GPU["power_watts"], {})

    assert titles(found) == ["GPU 0, rank 0", "GPU 0, rank 1"]


def test_of_very_many_gpus_the_first_are_drawn():
    measures = [measured(f"gpu/{n}/utilization_percent") for n in range(512)]

    found = each_gpu_rows(measures, EACH_GPU["utilization_percent"], {})

    assert len(found.rows) == MAX_GPUS
    assert found.absent == [
        f"{512 - MAX_GPUS} more GPUs not shown. Select a stage to see them."
    ]


def test_without_gpus_there_are_no_rows():
    kind = EACH_GPU["utilization_percent"]

    found = each_gpu_rows([measured("job/cpu_cores")], kind, {})

    assert (list(found.rows), list(found.absent)) == ([], [NO_GPU])


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (0.8, "(limit 0.8)"),
        (85.0, "(limit 85)"),
        (999.7, "(limit 1,000)"),
        (143_771.0, "(limit 143,771)"),
    ],
)
def test_a_limit_is_told_without_an_exponent(limit, words):
    assert limit_note(limit) == words
