import pytest

from tests.web.figures.plotly_schema import DrawnLine
from tracker.diagnosis.engine.finding import Evidence
from web.pages.charts.cited_signals import cited_paths, cited_signals, share_limit

WAITING = Evidence("data_wait_seconds", "share of step time", 0.6, "share", 0.1)
MEMORY = Evidence("gpu_memory_used_bytes", "peak", 7e10, "B", 7.2e10)
WORKERS = Evidence("loader_workers", "as the loader says", 0, "processes")
BUSIEST = Evidence("busiest_gpu_percent", "median", 30, "%")


def test_waiting_is_shown_against_its_step():
    assert cited_paths([WAITING], "") == {
        "data_wait_seconds": "step/data_wait_seconds",
        "step_seconds": "step/seconds",
    }


@pytest.mark.parametrize(("scope", "gpu"), [("gpu/3", "3"), ("", "0")])
def test_signals_of_a_gpu_are_those_of_the_finding_s_gpu(scope, gpu):
    assert cited_paths([MEMORY], scope) == {
        "gpu_memory_used_bytes": f"gpu/{gpu}/memory_used_bytes"
    }


def test_what_was_worked_out_is_shown_by_what_was_measured():
    paths = cited_paths([BUSIEST], "")

    assert paths == {"busiest_gpu_percent": "gpu/0/utilization_percent"}
    (signal,) = cited_signals([BUSIEST], {"busiest_gpu_percent": DrawnLine([1.0])})
    assert signal.path == "gpu/<i>/utilization_percent"


def test_facts_are_no_lines():
    assert cited_paths([WORKERS], "") == {}


def test_a_signal_no_rule_knows_any_more_is_left_out():
    assert cited_paths([Evidence("gone", "mean", 1.0, "s")], "") == {}


def test_limits_belong_to_the_unit_they_are_in():
    lines = {
        "data_wait_seconds": DrawnLine([1.0]),
        "gpu_memory_used_bytes": DrawnLine([1.0]),
    }

    wait, memory = cited_signals([WAITING, MEMORY], lines)

    assert wait.limit is None
    assert memory.limit == 7.2e10
    assert share_limit([MEMORY, WAITING]) == 0.1
    assert share_limit([MEMORY]) is None


@pytest.mark.parametrize("name", ["phase_seconds", "spans", "ranks", "effective_cores"])
def test_what_is_no_single_series_is_not_drawn(name):
    assert cited_paths([Evidence(name, "median", 1.0, "s")], "") == {}
