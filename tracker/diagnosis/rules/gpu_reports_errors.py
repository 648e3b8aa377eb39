"""The GPU reports errors.

## Detection
Driver errors (XID), uncorrectable memory errors, memory rows with a pending or failed
remapping, NVLink errors, and a lost card.

## Why it matters
A damaged card can compute wrong values without any error message. Results of such a run are
not reliable until the cause is known.

## Limitations
Some errors come from the program: the driver reports an invalid memory write in the same way
as a broken card. The error number shows the usual cause.
Memory errors are counted from the load of the driver, so errors from before the run are
reported separately and with a lower severity.
A run without driver messages may still have errors: containers can hide them.

Catalogue: H7, errors.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest
from tracker.diagnosis.engine.finding import (
    AGREEING,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count
from tracker.diagnosis.hardware.xid import Origin, meaning_of, origin_of
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE

LISTENS = "measured"
LOST = "lost"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # NVLink resends damaged packets; a few of these per stage are normal.
    fewest_link_errors: int = 10


@dataclass(frozen=True, slots=True)
class _Trouble:
    text: str
    evidence: Evidence
    severity: Severity
    is_damage: bool  # of the card, not caused by a program


def check(
    gpu_memory_total_bytes: float,
    *,
    gpu_xid: Samples | None = None,
    driver_errors_probe: str | None = None,
    gpu_state: str | None = None,
    gpu_ecc_uncorrected: Samples | None = None,
    gpu_remapped_rows_pending: Samples | None = None,
    gpu_remapped_rows_failed: Samples | None = None,
    gpu_retired_pages_pending: Samples | None = None,
    gpu_nvlink_errors: Samples | None = None,
    limits: Limits = Limits(),
) -> Answer:
    del gpu_memory_total_bytes  # it only shows that there is a card
    counters = (
        gpu_ecc_uncorrected,
        gpu_remapped_rows_pending,
        gpu_remapped_rows_failed,
        gpu_retired_pages_pending,
        gpu_nvlink_errors,
    )
    troubles = [
        *_of_driver(gpu_xid),
        *_of_memory(gpu_ecc_uncorrected),
        *_of_rows(
            gpu_remapped_rows_failed,
            gpu_remapped_rows_pending,
            gpu_retired_pages_pending,
        ),
        *_of_links(gpu_nvlink_errors, limits),
    ]
    is_lost = (gpu_state or "").startswith(LOST)
    if not troubles and not is_lost:
        listens = driver_errors_probe == LISTENS
        is_watched = listens or any(counter is not None for counter in counters)
        return None if is_watched else Abstention(("gpu_xid", "gpu_ecc_uncorrected"))
    return _finding(troubles, gpu_state if is_lost else None)


def _of_driver(xid: Samples | None) -> list[_Trouble]:
    numbers = Counter(int(value) for value in xid.values) if xid is not None else {}
    found = []
    for number, times in sorted(numbers.items()):
        origin = origin_of(number)
        if number <= 0 or origin is Origin.AFTERMATH:
            continue
        often = count(times, "time", "times")
        found.append(
            _Trouble(
                f"The driver reported error {number} {often}: {meaning_of(number)}.",
                Evidence("gpu_xid", f"XID error {number}", float(times), "times"),
                Severity.WARNING if origin is Origin.PROGRAM else Severity.CRITICAL,
                is_damage=origin is not Origin.PROGRAM,
            )
        )
    return found


def _of_memory(uncorrected: Samples | None) -> list[_Trouble]:
    if uncorrected is None or not len(uncorrected.values):
        return []
    last = float(uncorrected.values[-1])
    new = last - float(uncorrected.values[0])
    if not last > 0:
        return []
    if new > 0:
        text = f"{count(new, 'uncorrected memory error', 'uncorrected memory errors')}."
    else:
        text = (
            f"{count(last, 'uncorrected memory error', 'uncorrected memory errors')}"
            " since the driver was loaded, before this stage."
        )
    return [
        _Trouble(
            text,
            Evidence(
                "gpu_ecc_uncorrected",
                "errors in this stage" if new > 0 else "errors before this stage",
                new if new > 0 else last,
                "errors",
                0.0,
                Side.ABOVE,
            ),
            Severity.CRITICAL if new > 0 else Severity.WARNING,
            is_damage=True,
        )
    ]


def _of_rows(
    failed: Samples | None, pending: Samples | None, pages: Samples | None
) -> list[_Trouble]:
    found = []
    if failed is not None and highest(failed) > 0:
        found.append(
            _Trouble(
                "Failed memory rows could not be remapped: replace the card.",
                Evidence(
                    "gpu_remapped_rows_failed",
                    "failed row remappings",
                    highest(failed),
                    "",
                ),
                Severity.CRITICAL,
                is_damage=True,
            )
        )
    waiting = (
        ("gpu_remapped_rows_pending", pending, "Rows"),
        ("gpu_retired_pages_pending", pages, "Pages"),
    )
    for signal, samples, what in waiting:
        if samples is not None and highest(samples) > 0:
            found.append(
                _Trouble(
                    f"{what} of memory will be replaced when the GPU is reset.",
                    Evidence(signal, f"{what.lower()} pending", highest(samples), ""),
                    Severity.WARNING,
                    is_damage=True,
                )
            )
    return found


def _of_links(errors: Samples | None, limits: Limits) -> list[_Trouble]:
    if errors is None or not len(errors.values):
        return []
    new = float(errors.values[-1] - errors.values[0])
    if not new >= limits.fewest_link_errors:
        return []
    return [
        _Trouble(
            f"{new:g} NVLink errors were recovered by retransmission.",
            Evidence(
                "gpu_nvlink_errors",
                "errors in this stage",
                new,
                "errors",
                limits.fewest_link_errors,
                Side.ABOVE,
            ),
            Severity.WARNING,
            is_damage=True,
        )
    ]


def _finding(troubles: list[_Trouble], lost: str | None) -> Finding:
    is_critical = lost is not None or any(
        trouble.severity is Severity.CRITICAL for trouble in troubles
    )
    is_damage = lost is not None or any(trouble.is_damage for trouble in troubles)
    gone = [f"The driver lost the card ({lost})."] if lost is not None else []
    return Finding(
        title="" if is_damage else "Code on the GPU failed",
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=" ".join(
            [
                *gone,
                *(trouble.text for trouble in troubles),
                *(
                    ["Check the results of this run before you use them."]
                    if is_damage
                    else []
                ),
            ]
        ),
        evidence=tuple(trouble.evidence for trouble in troubles)
        or (Evidence("gpu_state", "cards lost", 1.0, "cards", 0.0, Side.ABOVE),),
        recommendations=_OF_CARD if is_damage else _OF_PROGRAM,
        disproof=(
            "Run the same job on another card: if the same errors occur, the program is"
            " the cause and not the card."
        ),
        corroboration=AGREEING,
    )


_OF_CARD = (
    Recommendation(
        "Repeat the run on another card, and compare the results before using any."
    ),
    Recommendation(
        "Take the card out of use, reset it when it is idle, and have it tested.",
        code="nvidia-smi --query --display=ECC,ROW_REMAPPER,PAGE_RETIREMENT",
    ),
    Recommendation("Report the card and the error to the operator of the machine."),
)
_OF_PROGRAM = (
    Recommendation(
        "Find the kernel: run again with synchronous launches, so that the traceback"
        " shows the failed call. That run is slow.",
        code="CUDA_LAUNCH_BLOCKING=1 python train.py",
    ),
    Recommendation(
        "Look for out-of-range indices, such as labels or tokens that the model has"
        " no row for.",
        code="compute-sanitizer python train.py",
    ),
)
