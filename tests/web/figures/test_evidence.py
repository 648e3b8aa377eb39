import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema
from web.figures.evidence import EvidenceSignal, evidence_rows, waiting_share
from web.figures.rows import Frame, TimeSpan, rows_figure


def signal(name, path, unit, values, *, limit=None, steps=None):
    line = DrawnLine(list(values), steps=steps)
    return EvidenceSignal(name, path, f"What {name} means", unit, line, limit)


STEP = signal("step_seconds", "step/seconds", "s", [0.5] * 20)
WAIT = signal("data_wait_seconds", "step/data_wait_seconds", "s", [0.3] * 20)
CORES = signal("job_cpu_cores", "job/cpu_cores", "cores", [1.0] * 20, limit=1.7)
UNKNOWN = signal("novelty", "novelty/per_cent", "", [1.0])


def test_waiting_is_drawn_as_a_share_of_the_step_with_its_limit():
    share, times, cores = evidence_rows([WAIT, STEP, CORES], share_limit=0.1)

    assert share.limit == pytest.approx(10)
    assert share.readings[0].lines[0].mean == pytest.approx(np.full(20, 0.6))
    assert [reading.name for reading in times.readings] == ["step", "waiting for data"]
    # Waiting has one color in all pictures.
    assert {times.readings[1].colour, share.readings[0].colour} == {"var(--use-wait)"}
    assert cores.limit == pytest.approx(1.7)


def test_the_share_speaks_only_of_moments_where_both_were_measured():
    step = DrawnLine([1.0, 2.0, 0.0], steps=[0.0, 1.0, 2.0])
    wait = DrawnLine([1.0, 0.0], steps=[1.0, 2.0])

    share = waiting_share(step, wait)

    assert share.x.tolist() == [1.0, 2.0]
    assert share.mean[0] == pytest.approx(0.5)


def test_a_signal_without_a_row_among_the_hardware_has_its_own():
    (row,) = evidence_rows([UNKNOWN])

    assert row.title == "What novelty means"


def test_a_finding_that_cites_no_series_has_no_rows():
    assert evidence_rows([]) == []
    assert evidence_rows([signal("job_cpu_cores", "job/cpu_cores", "cores", [])]) == []


@pytest.mark.parametrize("is_narrow", [False, True])
def test_plotly_knows_every_word_of_it(is_narrow):
    frame = Frame(window=TimeSpan("judged window", 2, 8), is_narrow=is_narrow)

    check_schema(rows_figure(evidence_rows([WAIT, STEP, CORES]), frame))
    check_schema(rows_figure(evidence_rows([]), frame))
