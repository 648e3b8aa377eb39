from __future__ import annotations

import subprocess
import sys
import time

import pytest

from benchmarks.diagnosis.faults import CASES, find_case
from benchmarks.diagnosis.record import end_group, ended_as_meant, main, plan

ON_GPU = [case for case in CASES if case.gpu]


def test_a_job_may_end_with_the_error_that_it_is_about_and_with_no_other():
    full, usual = find_case("out-of-memory"), find_case("float32")

    assert ended_as_meant(full, 1, "torch.OutOfMemoryError: CUDA out of memory.")
    assert not ended_as_meant(full, 1, "ImportError: no torch")
    assert not ended_as_meant(full, 0, "")
    assert ended_as_meant(full, 0, "", ["--device", "cpu"])
    assert ended_as_meant(usual, 0, "")
    assert not ended_as_meant(usual, 1, "torch.OutOfMemoryError")


@pytest.mark.parametrize("kind", ["--all", "--gpu"])
def test_a_name_is_not_lost_among_all_of_a_kind(kind, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["record", kind, "float32", "--plan"])

    with pytest.raises(SystemExit):
        main()

    assert "without --all and --gpu" in capsys.readouterr().err


def test_all_short_jobs_on_a_gpu_take_less_than_eight_minutes():
    told = plan([(case, 1) for case in ON_GPU if not case.gpu.is_long])

    assert "float32" in told
    assert float(told.split()[-3]) < 480


@pytest.mark.parametrize("case", ON_GPU, ids=lambda case: case.name)
def test_a_job_has_time_for_what_is_planned(case):
    assert case.gpu.planned_seconds < case.gpu.most_seconds
    assert not case.lacks


def test_a_job_is_ended_with_its_workers():
    worker = "import time; time.sleep(60)"
    job = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys\n"
            f"print(subprocess.Popen([sys.executable, '-c', {worker!r}],"
            " stdout=subprocess.DEVNULL).pid, flush=True)\n" + worker,
        ],
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    with job.stdout:
        pid = int(job.stdout.readline())

    end_group(job)

    assert job.returncode is not None
    until = time.monotonic() + 5
    while time.monotonic() < until and is_running(pid):
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - it may be gone
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_table_of_cases_needs_no_pytorch():
    code = "import sys; import benchmarks.diagnosis.record; assert 'torch' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True)
