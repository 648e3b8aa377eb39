"""Out of memory.

## Detection
A run that ended with an out-of-memory exception of a framework; processes in the job's
container that the kernel killed for memory; and a job that ended without an exception while
its memory was full.

## Why it matters
This ended the run. The contents of the memory show the cheapest fix.

## Limitations
Tensors with gradients count as activations, including losses and outputs that the script
keeps; so does memory that Python cannot see: tensors saved by autograd and workspaces of
libraries.
If tensor memory grew from step to step, by half of the GPU's memory, the rule assumes a leak;
growing inputs look the same.
The largest batch that would fit is an estimate: it assumes that only activations grow with the
batch. If memory ran out within a step, not all of its activations were allocated.
A killed process may have been a loader worker while the run continued.

Catalogue: M6, out-of-memory post-mortem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tracker.diagnosis.analysis.growth import Growth, steady_growth
from tracker.diagnosis.analysis.statistics import highest, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    INFERRED,
    MEASURED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count, duration, size
from tracker.diagnosis.hardware.gpu_memory import ways_to_let_go, ways_to_save
from tracker.diagnosis.hardware.post_mortem import Contents
from tracker.diagnosis.signals import Fact, Samples, Times

SPAN = Span.STAGE

CRASHED = "crashed"

# Texts of frameworks and systems, in lower case.
OF_GPU = "outofmemoryerror"
OF_HOST = ("memoryerror", "cannot allocate memory", "defaultcpuallocator")
WORDS = ("out of memory", "resourceexhausted", "resource_exhausted", OF_GPU, *OF_HOST)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # A job that crashed with this share of its memory in use was probably killed for it.
    full_share: float = 0.95
    # Number of samples before the end; there is one per second.
    last_readings: int = 10

    # A leak: growth by this share of the memory, over this many samples, after the
    # first steps have allocated the memory that all steps use.
    grown_share: float = 0.50
    fewest_steps: int = 20
    first_steps: int = 2
    fewest_seconds_of_growth: float = 5.0
    fewest_readings: int = 6


def check(
    stage_state: str,
    *,
    failure_type: str | None = None,
    failure_message: str | None = None,
    out_of_memory_device: str | None = None,
    out_of_memory_requested_bytes: float | None = None,
    out_of_memory_allocated_bytes: float | None = None,
    out_of_memory_reserved_bytes: float | None = None,
    out_of_memory_parameters_bytes: float | None = None,
    out_of_memory_gradients_bytes: float | None = None,
    out_of_memory_optimizer_bytes: float | None = None,
    out_of_memory_activations_bytes: float | None = None,
    out_of_memory_other_tensors_bytes: float | None = None,
    gpus: Mapping[int, Mapping[str, Samples | Fact]] | None = None,
    step_times: Times | None = None,
    cgroup_oom_kills: Samples | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    cgroup_page_cache_bytes: Samples | None = None,
    job_memory_bytes: Samples | None = None,
    memory_limit_bytes: float | None = None,
    batch_size: float | None = None,
    loader_workers: float | None = None,
    framework: str | None = None,
    torch_autocast: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    said = f"{failure_type or ''} {failure_message or ''}".lower()
    is_told = any(word in said for word in WORDS) or bool(out_of_memory_device)
    kills = highest(cgroup_oom_kills) if cgroup_oom_kills else 0.0
    used = cgroup_memory_used_bytes or job_memory_bytes
    was_full = stage_state == CRASHED and _was_full(
        used, cgroup_page_cache_bytes, memory_limit_bytes, limits
    )
    if not is_told and not kills > 0 and not was_full:
        return None

    device = out_of_memory_device or ""
    is_of_host = device == "cpu" or (not device and _is_of_host(said))
    if not is_told or is_of_host:
        return _on_host(
            kills,
            has_failed=stage_state not in {"running", "finished"},
            is_told=is_told,
            used=highest(used) if used else None,
            limit=memory_limit_bytes,
            loader_workers=loader_workers,
        )
    contents = Contents(
        parts={
            name: value
            for name, value in (
                ("parameters", out_of_memory_parameters_bytes),
                ("gradients", out_of_memory_gradients_bytes),
                ("optimizer", out_of_memory_optimizer_bytes),
                ("activations", out_of_memory_activations_bytes),
                ("other_tensors", out_of_memory_other_tensors_bytes),
            )
            if value is not None and value > 0
        },
        requested=out_of_memory_requested_bytes,
        allocated=out_of_memory_allocated_bytes,
        reserved=out_of_memory_reserved_bytes,
    )
    growth = _growth_until_full(gpus or {}, step_times, limits)
    return _on_gpu(
        device,
        contents,
        growth,
        batch_size=batch_size,
        framework=framework,
        autocast=torch_autocast,
    )


def _is_of_host(said: str) -> bool:
    return OF_GPU not in said and any(word in said for word in OF_HOST)


def _was_full(
    used: Samples | None,
    cache: Samples | None,
    limit_bytes: float | None,
    limits: Limits,
) -> bool:
    """Return whether the last samples, without page cache, were close to the limit."""
    if used is None or not len(used.values) or not limit_bytes or limit_bytes <= 0:
        return False
    droppable = typical(cache) if cache else 0.0
    last = float(used.values[-limits.last_readings :].max()) - droppable
    return last >= limits.full_share * limit_bytes


def _growth_until_full(
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    step_times: Times | None,
    limits: Limits,
) -> Growth | None:
    """Return the growth of tensor memory over the steps if it filled a GPU."""
    if step_times is None or len(step_times) < limits.fewest_steps:
        return None
    for signals in gpus.values():
        total = signals.get("gpu_memory_total_bytes")
        allocated = signals.get("gpu_allocator_allocated_bytes")
        if not isinstance(allocated, Samples) or not isinstance(total, int | float):
            continue
        # Loading the model grows the memory as well.
        stepping = allocated.times > step_times[limits.first_steps]
        growth = steady_growth(
            replace(
                allocated,
                times=allocated.times[stepping],
                values=allocated.values[stepping],
            ),
            fewest_seconds=limits.fewest_seconds_of_growth,
            blocks=limits.fewest_readings,
        )
        if growth is not None and growth.total >= limits.grown_share * total > 0:
            return growth
    return None


def _on_gpu(
    device: str,
    contents: Contents,
    growth: Growth | None,
    *,
    batch_size: float | None,
    framework: str | None,
    autocast: str | None,
) -> Finding:
    asked = (
        f" when {size(contents.requested)} more were requested"
        if (contents.requested)
        else ""
    )
    where = f" of {device}" if device else " of the GPU"
    return Finding(
        title="Out of GPU memory",
        severity=Severity.CRITICAL,
        summary=f"The memory{where} was full{asked}. {contents.text}{_grown(growth)}",
        evidence=_evidence(contents, growth),
        # With a leak, a smaller batch only delays the error.
        recommendations=ways_to_let_go(framework)
        if growth
        else _recommendations(contents, batch_size, framework, autocast),
        disproof=(
            "Train on one batch, repeated: if the memory still grows, the inputs are not"
            " the cause; if it stays, they are."
            if growth
            else "Run only the failed step with half the batch: if memory runs out"
            " again, the batch is not the cause."
        ),
        explains=("gpu-memory-is-nearly-full",),
        quality=MEASURED,
        corroboration=AGREEING if contents.parts else ALONE,
        spoils_the_run=True,
    )


def _grown(growth: Growth | None) -> str:
    if growth is None:
        return ""
    return (
        f" It grew by {size(growth.total)} in {duration(growth.seconds)}: the script"
        " keeps tensors from step to step."
    )


def _evidence(contents: Contents, growth: Growth | None) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            f"out_of_memory_{name}_bytes",
            f"{name.replace('_', ' ')} when memory ran out",
            value,
            "B",
        )
        for name, value in contents.parts.items()
    ]
    if contents.requested is not None:
        found.append(
            Evidence(
                "out_of_memory_requested_bytes",
                "failed allocation",
                contents.requested,
                "B",
            )
        )
    if contents.reserved is not None:
        found.append(
            Evidence(
                "out_of_memory_reserved_bytes",
                "memory held by the allocator",
                contents.reserved,
                "B",
            )
        )
    if growth is not None:
        found.append(
            Evidence(
                "gpu_allocator_allocated_bytes",
                "growth of GPU memory",
                growth.total,
                "B",
            )
        )
    return tuple(found) or (
        Evidence("failure_type", "out-of-memory errors", 1.0, "times"),
    )


def _recommendations(
    contents: Contents,
    batch_size: float | None,
    framework: str | None,
    autocast: str | None,
) -> tuple[Recommendation, ...]:
    fits = contents.batch_that_fits(batch_size)
    ways = list(
        ways_to_save(
            framework, batch_size=batch_size, autocast=autocast, suggested_batch=fits
        )
    )
    if contents.is_mostly("optimizer") and not contents.is_fragmented:
        # A smaller batch does not shrink the optimizer state.
        ways.sort(key=lambda way: "optimizer" not in way.text)
    return tuple(ways)


def _on_host(
    kills: float,
    *,
    has_failed: bool,
    is_told: bool,
    used: float | None,
    limit: float | None,
    loader_workers: float | None,
) -> Finding:
    killed = (
        f" The kernel killed {count(kills, 'process', 'processes')} of its container."
        if kills > 0
        else ""
    )
    of = f" of {size(limit)}" if limit else ""
    at = f" At its peak, {size(used)}{of} was in use." if used is not None else ""
    if not is_told and not kills > 0:
        begins = "The run ended without an error while host memory was full."
    elif is_told or has_failed:
        begins = "Host memory was full."
    else:
        begins = "Host memory was full, but the run continued."
    return Finding(
        title="Out of host memory",
        severity=Severity.CRITICAL if is_told or has_failed else Severity.WARNING,
        summary=f"{begins}{killed}{at}",
        evidence=(
            Evidence(
                "cgroup_oom_kills",
                "processes killed for memory",
                kills,
                "processes",
                0.0,
                Side.ABOVE,
            ),
            *(
                (
                    Evidence(
                        "job_memory_bytes",
                        "memory of the job, peak",
                        used,
                        "B",
                        limit,
                        None,
                    ),
                )
                if used is not None
                else ()
            ),
        ),
        recommendations=(
            Recommendation(
                "Use fewer loader workers, or a smaller prefetch queue for each.",
                current=f"{loader_workers:g} workers" if loader_workers else "",
                suggested=f"{loader_workers // 2:g} workers" if loader_workers else "",
            ),
            Recommendation(
                "Read the data from memory-mapped files instead of loading all of it.",
                code='numpy.load(path, mmap_mode="r")',
            ),
            Recommendation("Request more memory for the job."),
        ),
        disproof=(
            "The kernel log names the killed process and its memory: if it does not belong"
            " to the job, another job used the memory."
        ),
        explains=("host-memory-is-short",),
        quality=MEASURED if is_told or kills > 0 else INFERRED,
        corroboration=AGREEING if is_told and kills > 0 else ALONE,
        spoils_the_run=is_told or has_failed,
    )
