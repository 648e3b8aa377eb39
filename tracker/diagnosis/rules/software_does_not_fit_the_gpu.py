"""Driver, CUDA and GPU do not match.

## Detection
A driver that is older than required by the CUDA version of PyTorch, or older than that CUDA
version itself; a GPU that this CUDA version does not support yet, or no longer supports; and a
PyTorch without CUDA on a machine with a GPU.

## Why it matters
Some of these cases end with an error. Others silently run on the CPU, recompile their code at
each start, or miss optimizations of newer drivers.

## Limitations
The table is from NVIDIA, as of the release of this version; newer software is not judged.
A build may contain code for more cards than its CUDA version does by default, and the
forward-compatibility package lets an old driver run a newer CUDA version.
Precision and other settings that cost speed belong to the rules about computation.

Catalogue: H10, old or mismatched software.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import (
    MEASURED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.hardware.software import (
    AS_OF,
    Mismatch,
    compare_card,
    compare_driver,
    oldest_driver,
    version_of,
)
from tracker.diagnosis.signals import Fact, Samples

SPAN = Span.STAGE

WITHOUT_CUDA = "+cpu"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # There is no table for older major versions.
    oldest_cuda: int = 10


def check(
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    gpu_driver: str,
    *,
    gpu_driver_cuda: str | None = None,
    torch_version: str | None = None,
    torch_cuda: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    driver, cuda = version_of(gpu_driver), version_of(torch_cuda)
    if not driver:
        return Abstention(("gpu_driver",))
    if not cuda:
        if (torch_version or "").endswith(WITHOUT_CUDA):
            return _finding((_NO_CUDA,), driver, cuda)
        return Abstention(("torch_cuda",))
    if cuda[0] < limits.oldest_cuda or oldest_driver(cuda) is None:
        return Abstention((f"a table of drivers for CUDA {torch_cuda}",))

    # Cards of one model have the same values.
    capabilities = {
        version_of(capability)
        for signals in gpus.values()
        if isinstance(capability := signals.get("gpu_compute_capability"), str)
    }
    found = [
        compare_driver(gpu_driver, cuda, version_of(gpu_driver_cuda)),
        *(compare_card(capability, cuda) for capability in sorted(capabilities)),
    ]
    mismatches = tuple(mismatch for mismatch in found if mismatch)
    return _finding(mismatches, driver, cuda) if mismatches else None


def _finding(
    mismatches: tuple[Mismatch, ...], driver: tuple[int, ...], cuda: tuple[int, ...]
) -> Finding:
    is_fatal = any(mismatch.is_fatal for mismatch in mismatches)
    needed = oldest_driver(cuda) if cuda else None
    return Finding(
        title="PyTorch is built without CUDA" if mismatches == (_NO_CUDA,) else "",
        severity=Severity.WARNING if is_fatal else Severity.NOTICE,
        summary=" ".join(mismatch.text for mismatch in mismatches),
        evidence=(
            Evidence(
                "gpu_driver",
                "driver branch",
                float(driver[0]),
                "",
                float(needed[0]) if needed else None,
                Side.BELOW,
            ),
            *(
                (Evidence("torch_cuda", "CUDA major version", float(cuda[0]), ""),)
                if cuda
                else ()
            ),
        ),
        recommendations=tuple(
            Recommendation(mismatch.cure, code=_CODE) for mismatch in mismatches
        ),
        disproof=(
            f"The current tables of NVIDIA differ from those of {AS_OF}, which this version"
            " uses."
        ),
        quality=MEASURED if is_fatal else SAMPLED,
    )


_CODE = (
    'python -c "import torch; print(torch.version.cuda, torch.cuda.get_arch_list())"'
)
_NO_CUDA = Mismatch(
    "The machine has a GPU with its driver, and the installed PyTorch cannot use it: it"
    " was built without CUDA.",
    "Install the build of PyTorch for the driver's CUDA.",
    is_fatal=True,
)
