from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import stage, steps
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.model_could_not_be_loaded import check


def failed(message, kind="RuntimeError", **more):
    return stage(
        step_rows=Steps.none(),
        sampled={"job_cpu_cores": 1.0},
        facts={
            "failure_type": kind,
            "failure_message": message,
            "stage_state": "failed",
            **more,
        },
    )


MISMATCH = (
    "Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a"
    " param with shape [10, 512] from checkpoint, the shape in current model is [100, 512]"
)
ALARMS = [failed(MISMATCH)]
SILENCES = [
    failed("CUDA error: device-side assert triggered"),
    failed(
        "[Errno 2] No such file or directory: 'data/train.csv'", "FileNotFoundError"
    ),
    stage(
        step_rows=steps(),
        facts={"failure_message": MISMATCH, "stage_state": "finished"},
    ),
]


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("RuntimeError", MISMATCH, "do not fit the model"),
        (
            "RuntimeError",
            "PytorchStreamReader failed reading zip archive: failed finding central"
            " directory",
            "damaged",
        ),
        ("UnpicklingError", "invalid load key, '<'.", "damaged"),
        (
            "SafetensorError",
            "Error while deserializing header: HeaderTooLarge",
            "damaged",
        ),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: 'out/model.pt'",
            "missing",
        ),
        (
            "OSError",
            "org/model does not appear to have a file named pytorch_model.bin",
            "missing",
        ),
    ],
)
def test_names_why_a_model_was_not_loaded(kind, message, words):
    finding = check(message, failure_type=kind, stage_state="failed")

    assert isinstance(finding, Finding)
    assert words in finding.summary
    assert finding.spoils_the_run
