"""The model could not be loaded.

## Detection
A stage that failed with an error that libraries raise while they read weights: a missing,
damaged or invalid file, or weights whose names and shapes do not match the model.

## Why it matters
The job has reserved its hardware without using it. A service that restarts fails again each
time.

## Limitations
Errors are recognized by their messages. The missing file may be another one: the message has
to mention a checkpoint, weights or a model.

Catalogue: I4, load errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import (
    AGREEING,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.engine.rule import Span

SPAN = Span.STAGE

# A weights file, by its name or by a word in the message.
MODEL = re.compile(
    r"checkpoint|ckpt|weights?\b|state_?dict|safetensors|pytorch_model|\bmodel\b"
    r"|\.(pt|pth|onnx|gguf|keras|h5)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # The finding is either certain or absent.
    fewest_errors: float = 1.0


@dataclass(frozen=True, slots=True)
class _Cause:
    pattern: re.Pattern[str]
    words: str
    advice: Recommendation
    names_model: bool = True  # the message can only be about a model


CAUSES = (
    _Cause(
        re.compile(
            r"loading state_dict|size mismatch for|Missing key\(s\)|Unexpected key\(s\)"
            r"|Missing keys? in|shape mismatch .*weight",
            re.IGNORECASE,
        ),
        "its weights do not fit the model",
        Recommendation(
            "Build the model with the settings from when it was saved, and compare the"
            " names: a prefix such as `module.` comes from a wrapper.",
            code="model.load_state_dict(state, strict=False)  # prints what differs",
        ),
    ),
    _Cause(
        re.compile(
            r"PytorchStreamReader|failed finding central directory|invalid load key"
            r"|HeaderTooLarge|Error while deserializing header|InvalidHeader"
            r"|pickle data was truncated|Ran out of input|Unable to (synchronously )?open"
            r"|file signature not found|not a zip file",
            re.IGNORECASE,
        ),
        "its file is damaged or incomplete",
        Recommendation(
            "Load an earlier checkpoint, and write new ones to a temporary file that is"
            " renamed when it is complete.",
            code='torch.save(state, path + ".part"); os.replace(path + ".part", path)',
        ),
    ),
    _Cause(
        re.compile(
            r"No such file|FileNotFoundError|does not appear to have a file named"
            r"|is not a local folder and is not a valid model|Can't load (the model|weights)",
            re.IGNORECASE,
        ),
        "its file is missing",
        Recommendation(
            "Check the path on this machine: it may be on an unmounted folder, a relative"
            " path, or a file that an earlier stage did not write."
        ),
        names_model=False,
    ),
)


def check(
    failure_message: str,
    *,
    failure_type: str | None = None,
    stage_state: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if stage_state == "finished":
        return None
    text = f"{failure_type or ''}: {failure_message}"
    cause = next(
        (
            cause
            for cause in CAUSES
            if cause.pattern.search(text)
            and (cause.names_model or MODEL.search(failure_message))
        ),
        None,
    )
    if cause is None:
        return None
    return Finding(
        severity=Severity.CRITICAL,
        summary=(
            f"The stage failed while it loaded the model: {cause.words}."
            f" The error is {failure_type or 'at the end of the traceback'}."
        ),
        evidence=(
            Evidence("failure_message", "load errors", limits.fewest_errors, "errors"),
        ),
        recommendations=(
            cause.advice,
            Recommendation(
                "Check that the file can be loaded before you queue the job, on a machine"
                " without a GPU."
            ),
        ),
        disproof="Load the same file separately: if that works, the error has another cause.",
        spoils_the_run=True,
        corroboration=AGREEING,
    )
