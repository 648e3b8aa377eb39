from __future__ import annotations

import json

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, samples, stage, steps
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.input.activities import (
    DATA,
    FEWEST_SAMPLES,
    find_activity,
    find_launches,
    kind_of_function,
)
from tracker.diagnosis.signals import Tracked

MAIN = ("<module>", "train.py", 30)
STEP = ("train_step", "train.py", 12)
DECODE = ("decode", "data.py", 42)
OPEN = ("open", "PIL.Image", 0)
SAVE = ("save_checkpoint", "train.py", 20)
EVALUATE = ("evaluate", "train.py", 25)
LOG = ("log_metrics", "train.py", 28)
WAIT = ("_BaseDataLoaderIter.__next__", "torch.utils.data.dataloader", 0)
OUR_LOADER = ("TimedLoader.__iter__", "seamark.recording.loader", 0)


def profile(*stacks):
    """Return a profile of (samples, places) in training."""
    names, nodes, values = [], {}, []
    for count, *places in stacks:
        parent = -1
        for depth in range(len(places)):
            key = tuple(places[: depth + 1])
            if key not in nodes:
                if places[depth] not in names:
                    names.append(places[depth])
                nodes[key] = len(values) // 3
                values += [parent, names.index(places[depth]), 0]
            parent = nodes[key]
        values[3 * parent + 2] += count
    total = sum(count for count, *_ in stacks)
    return json.dumps(
        {
            "version": 1,
            "samples": {"steps": total},
            "names": names,
            "trees": {"steps": values},
        }
    )


def test_the_share_and_the_line_of_the_user_with_most_samples():
    found = find_activity(
        profile((500, MAIN, DECODE, OPEN), (100, MAIN, DECODE), (400, MAIN, STEP)),
        None,
        *DATA,
    )
    assert found.share == pytest.approx(0.6)
    assert found.place == "decode (data.py:42)"


def test_several_lines_of_a_function_are_named_together():
    lines = [("GradientTable.write", "train.py", n) for n in (70, 72, 75)]
    stacks = [(200, MAIN, SAVE, line) for line in lines]
    found = find_activity(profile(*stacks, (250, MAIN)), None, PhaseKind.CHECKPOINT)
    assert found.place == "GradientTable.write (train.py:70–75)"


def test_what_the_evaluation_loads_belongs_to_the_evaluation():
    text = profile((600, MAIN, EVALUATE, DECODE), (400, MAIN, STEP))
    assert find_activity(text, None, *DATA).share == 0
    assert find_activity(text, None, PhaseKind.EVALUATE).share == pytest.approx(0.6)


def test_a_library_that_saves_may_compress_with_another_one():
    save = ("savez", "numpy.lib._npyio_impl", 0)
    text = profile((600, MAIN, save, ("ZipFile.close", "zipfile", 0)), (400, MAIN))
    assert find_activity(text, None, PhaseKind.CHECKPOINT).share == pytest.approx(0.6)
    assert find_activity(text, None, *DATA).share == 0


def test_time_while_a_gpu_works_is_not_lost():
    text = profile((600, MAIN, DECODE), (400, MAIN, STEP))
    found = find_activity(text, samples([90.0] * 10), *DATA)
    assert found.share == pytest.approx(0.1)


def test_what_the_timer_of_the_loader_measures_is_left_out():
    text = profile((600, MAIN, OUR_LOADER, DECODE), (400, MAIN, STEP))
    assert find_activity(text, None, *DATA).share == 0


@pytest.mark.parametrize(
    "text", ["", "{}", profile((FEWEST_SAMPLES - 1, MAIN, DECODE))]
)
def test_a_short_profile_gives_no_share(text):
    assert find_activity(text, None, *DATA) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Images.__getitem__", PhaseKind.LOAD_DATA),
        ("next_batch", PhaseKind.LOAD_DATA),
        ("parse", PhaseKind.LOAD_DATA),
        ("saveCheckpoint", PhaseKind.CHECKPOINT),
        ("Trainer.validate_epoch", PhaseKind.EVALUATE),
        ("load_model", PhaseKind.LOAD_MODEL),
        ("train_and_evaluate", None),
        ("valid_moves", None),
        ("forward", None),
        ("step", None),
    ],
)
def test_a_function_tells_its_purpose(name, kind):
    assert kind_of_function(name) is kind


CALL = ("Module._wrapped_call_impl", "torch.nn.modules.module", 0)
CELL = ("Cell.forward", "model.py", 21)
BACKWARD = ("_engine_run_backward", "torch.autograd.graph", 0)
UPDATE = ("Adam.step", "torch.optim.adam", 0)
SYNCHRONIZE = ("synchronize", "torch.cuda", 0)


def test_the_model_with_its_backward_pass_and_optimizer_launches_work():
    found = find_launches(
        profile(
            (400, MAIN, CALL, CELL),
            (300, MAIN, BACKWARD),
            (100, MAIN, UPDATE),
            (100, MAIN, CALL, SYNCHRONIZE),
            (50, MAIN, EVALUATE, CALL, CELL),
            (50, MAIN, DECODE),
        )
    )
    assert found.share == pytest.approx(0.8)
    assert found.backward_share == pytest.approx(0.3)
    assert found.place == "Cell.forward (model.py:21)"


@pytest.mark.parametrize(
    ("gpu", "decoding", "is_found"),
    [(20.0, 0, True), (99.0, 0, False), (20.0, 600, False)],
    ids=["gaps", "a busy GPU", "other work"],
)
def test_a_script_that_only_logs_is_limited_by_launches(gpu, decoding, is_found):
    text = profile(
        (500, MAIN, CALL, CELL), (500, MAIN, BACKWARD), (decoding, MAIN, DECODE)
    )
    cores = {"job_main_thread_cpu_cores": 0.4, "job_main_cpu_cores": 1.0}
    found = diagnosed(text, gpus=1, gpu_percent=gpu, sampled=cores).findings

    one = [f for f in found if f.rule == "launching-work-limits-the-gpu"]
    assert bool(one) is is_found
    if one:
        assert "Cell.forward (model.py:21)" in one[0].finding.summary


def test_a_busy_thread_that_copies_launches_little():
    copying = profile((900, MAIN), (100, MAIN, CALL, CELL))
    launching = profile((200, MAIN), (800, MAIN, CALL, CELL))
    cores = {"job_main_thread_cpu_cores": 0.95}
    for text, is_found in ((copying, False), (launching, True)):
        found = diagnosed(
            text, gpus=1, gpu_percent=20.0, sampled=cores, step_rows=steps()
        ).findings
        assert is_found is any(f.rule == "launching-work-limits-the-gpu" for f in found)


def test_the_time_before_training_is_not_that_of_launches():
    text = profile((1000, MAIN, CALL, CELL))
    cores = {"job_main_thread_cpu_cores": [1.0] * 100}
    for before, during, is_found in ((0.0, 99.0, False), (99.0, 20.0, True)):
        gpu = [before] * 60 + [during] * 40
        losses = tracked("train/loss", first=60)
        found = diagnosed(
            text, gpus=1, gpu_percent=gpu, sampled=cores, losses=losses
        ).findings
        assert is_found is any(f.rule == "launching-work-limits-the-gpu" for f in found)


def test_a_profile_does_not_show_the_launches_of_other_frameworks():
    text = profile((1000, MAIN, STEP))
    for framework, is_found in (("jax", True), ("pytorch", False)):
        found = diagnosed(
            text,
            gpus=1,
            gpu_percent=20.0,
            sampled={"job_main_thread_cpu_cores": 0.95},
            step_rows=steps(),
            framework=framework,
        ).findings
        assert is_found is any(f.rule == "launching-work-limits-the-gpu" for f in found)


def diagnosed(text, *, workers=0.0, sampled=None, framework="pytorch", **more):
    facts = {
        "code_profile": text,
        "stage_seconds": 100.0,
        "effective_cores": 4.0,
        "framework": framework,
    }
    sampled = {"job_cpu_cores": [1.0] * 100, **(sampled or {})}
    sampled = {"job_workers": [workers] * 100, **sampled}
    more = {"losses": tracked("train/loss"), "step_rows": steps(count=0), **more}
    return diagnose(stage(facts=facts, sampled=sampled, **more))


def tracked(path, *, first=0, last=100):
    """Return a series with two points, logged so many seconds after the start."""
    values = np.array([0.5, 0.4])
    times = START + np.array([first, last]) * SECOND
    return {path: Tracked(np.arange(2.0), times, values)}


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (DECODE, "too-few-loader-workers"),
        (SAVE, "checkpoints-take-long"),
        (LOG, "logging-interrupts-training"),
    ],
)
def test_a_script_without_timers_gets_a_finding_that_names_the_line(place, rule):
    found = diagnosed(profile((400, MAIN, place), (600, MAIN, STEP))).findings

    assert [judgement.rule for judgement in found] == [rule]
    function, file, line = place
    summary = found[0].finding.summary
    assert "takes 40 % of the training thread's time" in summary
    assert f"mostly in {function} ({file}:{line})" in summary
    assert found[0].finding.gain.bound == pytest.approx(1 / 0.6, rel=0.01)


def test_measured_times_are_believed_instead_of_names():
    text = profile((400, MAIN, DECODE), (600, MAIN, STEP))
    rows = steps(total=1.0, waiting=0.01, count=100)
    assert diagnosed(text, step_rows=rows).findings == ()


@pytest.mark.parametrize("place", [DECODE, SAVE, LOG])
def test_a_stage_that_prepares_data_has_no_fault(place):
    text = profile((400, MAIN, place), (600, MAIN, STEP))
    assert diagnosed(text, losses={}).findings == ()


def test_a_script_that_waits_for_its_workers():
    found = diagnosed(
        profile((400, MAIN, WAIT), (600, MAIN, STEP)), workers=2.0
    ).findings
    assert [judgement.rule for judgement in found] == ["data-wait-dominates"]


def test_an_evaluation_is_one_only_with_metrics_of_it():
    text = profile((400, MAIN, EVALUATE), (600, MAIN, STEP))
    assert diagnosed(text).findings == ()

    found = diagnosed(text, evaluations=tracked("val/loss")).findings
    assert [judgement.rule for judgement in found] == ["evaluation-takes-long"]


def test_training_is_no_fault():
    text = profile((20, MAIN, SAVE), (20, MAIN, LOG), (960, MAIN, STEP))
    assert diagnosed(text).findings == ()


def test_a_finding_from_timers_names_the_line_that_takes_the_time():
    text = profile(
        (300, MAIN, OUR_LOADER, DECODE, OPEN), (20, MAIN, OUR_LOADER), (680, MAIN, STEP)
    )
    rows = steps(total=1.0, waiting=0.4, count=300)

    found = diagnosed(text, step_rows=rows).findings

    waits = next(j for j in found if j.rule == "data-wait-dominates").finding
    assert waits.summary.endswith(
        "The training thread is in decode (data.py:42) for 30 % of training."
    )
    assert waits.evidence[-1].value == pytest.approx(0.3)


POOL = ("Condition.wait", "threading", 0)


def test_threads_that_share_one_core():
    waits = profile((900, MAIN, POOL), (100, MAIN, STEP))
    sampled = {
        "job_cpu_cores": [0.95] * 100,
        "job_main_cpu_cores": [0.95] * 100,
        "job_main_thread_cpu_cores": [0.02] * 100,
    }

    found = diagnosed(waits, sampled=sampled).findings
    assert [judgement.rule for judgement in found] == ["one-core-does-the-work"]

    # Processes that compute, and threads that use several cores.
    processes = {**sampled, "job_cpu_cores": [3.0] * 100}
    assert diagnosed(waits, sampled=processes).findings == ()
    native = {name: [3.0] * 100 for name in sampled} | {
        "job_main_thread_cpu_cores": [0.02] * 100
    }
    assert diagnosed(waits, sampled=native).findings == ()
