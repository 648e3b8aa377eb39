"""Out of memory.

## What it looks for
A run that ended because a framework could allocate no more, by the exception that
ended it; processes that the kernel killed for memory in the job's container; and a job
that ended without a word while the memory it may use was full.

## Why it matters
This is what ended the work. What the memory was full of says which cure is the
cheapest.

## When it is wrong
Tensors that were computed with gradients count as activations, and so do losses and
outputs that a script keeps; likewise what Python cannot see: what autograd keeps, mostly,
and workspaces of libraries.
Where the memory of tensors grew from step to step, by half of the GPU's, something is
taken to be kept; inputs that grow look the same.
The largest batch that would fit is an estimate: it takes for granted that activations
and nothing else grow with the batch. When memory ran out within a step, not all of its
activations were there yet.
A process that was killed may have been a loader worker while the run went on.

Catalogue: M6, out-of-memory post-mortem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracker.diagnosis.finding import (
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
from tracker.diagnosis.gpu_memory import ways_to_let_go, ways_to_save
from tracker.diagnosis.growth import Growth, steady_growth
from tracker.diagnosis.post_mortem import Contents
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Fact, Samples, Times
from tracker.diagnosis.statistics import highest, typical
from tracker.diagnosis.wording import count, duration, size

SPAN = Span.STAGE

# A job that crashed with this part of its memory in use was killed for it, perhaps.
FULL_SHARE = 0.95
# Readings before the end that count; they come once a second.
LAST_READINGS = 10

# What filled the memory bit by bit: so large a part of it, over so many readings, once
# the first steps have made what all of them use.
GROWN_SHARE = 0.50
FEWEST_STEPS, FIRST_STEPS = 20, 2
FEWEST_SECONDS_OF_GROWTH, FEWEST_READINGS = 5.0, 6

CRASHED = "crashed"

# How frameworks and systems say it, in small letters.
OF_GPU = "outofmemoryerror"
OF_HOST = ("memoryerror", "cannot allocate memory", "defaultcpuallocator")
WORDS = ("out of memory", "resourceexhausted", "resource_exhausted", OF_GPU, *OF_HOST)


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
) -> Answer:
    said = f"{failure_type or ''} {failure_message or ''}".lower()
    is_told = any(word in said for word in WORDS) or bool(out_of_memory_device)
    kills = highest(cgroup_oom_kills) if cgroup_oom_kills else 0.0
    used = cgroup_memory_used_bytes or job_memory_bytes
    was_full = stage_state == CRASHED and _was_full(
        used, cgroup_page_cache_bytes, memory_limit_bytes
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
    growth = _growth_until_full(gpus or {}, step_times)
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
    used: Samples | None, cache: Samples | None, limit_bytes: float | None
) -> bool:
    """Whether the last readings, without page cache, were close to the limit."""
    if used is None or not len(used.values) or not limit_bytes or limit_bytes <= 0:
        return False
    droppable = typical(cache) if cache else 0.0
    last = float(used.values[-LAST_READINGS:].max()) - droppable
    return last >= FULL_SHARE * limit_bytes


def _growth_until_full(
    gpus: Mapping[int, Mapping[str, Samples | Fact]], step_times: Times | None
) -> Growth | None:
    """Return by how much tensors grew from step to step, if that filled a GPU."""
    if step_times is None or len(step_times) < FEWEST_STEPS:
        return None
    for signals in gpus.values():
        total = signals.get("gpu_memory_total_bytes")
        allocated = signals.get("gpu_allocator_allocated_bytes")
        if not isinstance(allocated, Samples) or not isinstance(total, int | float):
            continue
        # A model that is loaded grows as well.
        stepping = allocated.times > step_times[FIRST_STEPS]
        growth = steady_growth(
            replace(
                allocated,
                times=allocated.times[stepping],
                values=allocated.values[stepping],
            ),
            fewest_seconds=FEWEST_SECONDS_OF_GROWTH,
            blocks=FEWEST_READINGS,
        )
        if growth is not None and growth.total >= GROWN_SHARE * total > 0:
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
        f" when {size(contents.requested)} more were asked for"
        if (contents.requested)
        else ""
    )
    where = f" of {device}" if device else " of the GPU"
    return Finding(
        title="Out of GPU memory",
        severity=Severity.CRITICAL,
        summary=f"The memory{where} was full{asked}. {contents.text}{_grown(growth)}",
        evidence=_evidence(contents, growth),
        # A smaller batch would only run for longer, if it grows.
        recommendations=ways_to_let_go(framework)
        if growth
        else _recommendations(contents, batch_size, framework, autocast),
        disproof=(
            "Train on one batch, repeated: if the memory still grows, it is not the"
            " inputs; if it stays, they have grown."
            if growth
            else "Run the step that failed alone with half the batch: if memory runs out"
            " just the same, it is not the batch that fills it."
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
        # A smaller batch does not make the optimizer's state any smaller.
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
                "Take fewer loader workers, or let each be fewer batches ahead.",
                current=f"{loader_workers:g} workers" if loader_workers else "",
                suggested=f"{loader_workers // 2:g} workers" if loader_workers else "",
            ),
            Recommendation(
                "Read the data from memory-mapped files instead of loading all of it.",
                code='numpy.load(path, mmap_mode="r")',
            ),
            Recommendation("Ask for more memory for the job."),
        ),
        disproof=(
            "The kernel's log names the process it killed and what it held: if it is"
            " not the job's, somebody else needed the memory."
        ),
        explains=("host-memory-is-short",),
        quality=MEASURED if is_told or kills > 0 else INFERRED,
        corroboration=AGREEING if is_told and kills > 0 else ALONE,
        spoils_the_run=is_told or has_failed,
    )
