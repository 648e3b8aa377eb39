from pathlib import Path

from tests.web.figures.plotly_schema import DrawnLine
from web.figures.hardware import Measurement, hardware_rows, is_drawn
from web.figures.hardware_kinds import AGENT, CPU, GPUS, GROUPS, STORAGE

MONITORING = Path(__file__).parents[3] / "docs" / "monitoring.md"


def measured(measure, value=1.0):
    return Measurement(measure, 0, DrawnLine([value, value]))


def test_every_row_shows_what_the_agent_writes():
    documented = MONITORING.read_text("utf-8")
    measures = {measure for group in GROUPS for measure in group.measures}

    assert {m for m in measures if f"`{m}`" not in documented} == set()


def test_names_of_groups_are_their_own():
    assert len({group.name for group in GROUPS}) == len(GROUPS)


def test_shares_are_shown_as_percentages():
    found = hardware_rows([measured("cgroup/throttled_share", 0.25)], {}, CPU)

    (row,) = found.rows
    assert row.unit == "%"
    assert row.readings[0].scale == 100


def test_a_slice_of_a_gpu_is_a_line_beside_it():
    measures = [
        measured(f"gpu/{place}/gpm/sm_active_percent")
        for place in ("1/mig/0", "0", "1")
    ]

    (row,) = hardware_rows(measures, {}, GPUS).rows

    names = [reading.name for reading in row.readings]
    assert names == ["GPU 0", "GPU 1", "GPU 1, slice 0"]


def test_directions_of_a_gpu_are_told_apart():
    measures = [
        measured(f"gpu/0/pcie_{way}_bytes_per_second") for way in ("send", "receive")
    ]

    (row,) = hardware_rows(measures, {}, GPUS).rows

    assert [r.name for r in row.readings] == ["GPU 0 received", "GPU 0 sent"]


def test_every_probe_is_a_line():
    measures = [measured(f"agent/probes/{name}_seconds") for name in ("host", "nvml")]

    (row,) = hardware_rows(measures, {}, AGENT).rows

    assert [reading.name for reading in row.readings] == ["host", "nvml"]


def test_what_belongs_to_another_group_is_not_drawn():
    assert not is_drawn("job/cpu_cores", STORAGE)
    assert is_drawn("job/requested_bytes_per_second", STORAGE)
