"""Micro-benchmarks of parts of the training (`run.probe`).

Each call takes at most a minute, stores its result under `monitoring/<stage>/probe/`,
returns it, and never raises.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from seamark.recording.steps import Steps
from seamark.trials import device, loaders, random_numbers
from seamark.trials.clock import Deadline, Passage, pass_over, time_calls, time_passage
from seamark.trials.fitting import fit_line, largest_batch
from seamark.trials.results import (
    BatchResult,
    CachedResult,
    LoaderResult,
    SyntheticResult,
    WorkersResult,
)
from seamark.user_warnings import Notices

Batch = TypeVar("Batch")
Given = ParamSpec("Given")

_MAX_SIZES = 4
_FEW_BATCHES = 8
# Default batch sizes.
_SIZES = (8, 16, 32, 64)


class _Result(Protocol):
    def values(self) -> dict[str, object]: ...


Found = TypeVar("Found", bound=_Result)


def _trial(
    name: str,
) -> Callable[
    [Callable[Concatenate[Trials, Given], Found | None]],
    Callable[Concatenate[Trials, Given], Found | None],
]:
    """Make a method store its result, and return None instead of raising."""

    def wrap(
        method: Callable[Concatenate[Trials, Given], Found | None],
    ) -> Callable[Concatenate[Trials, Given], Found | None]:
        @functools.wraps(method)
        def call(
            trials: Trials, /, *given: Given.args, **named: Given.kwargs
        ) -> Found | None:
            return trials.attempt(name, lambda: method(trials, *given, **named))

        return call

    return wrap


class Trials:
    """Returned by `run.probe`."""

    def __init__(self, steps: Steps, notices: Notices, *, is_enabled: bool) -> None:
        self._steps = steps
        self._notices = notices
        self._is_enabled = is_enabled

    @_trial("synthetic")
    def synthetic(
        self, step: Callable[[Batch], object], batch: Batch, *, seconds: float = 10.0
    ) -> SyntheticResult | None:
        """Repeat the step on one batch to measure training speed without data wait.

        Args:
            step: A function that trains on a batch like the loop, without logging.
            batch: One batch, on the device that the step expects.
            seconds: The approximate duration, at most 60.
        """
        pace = time_calls(lambda: step(batch), self._wait, Deadline(seconds))
        return SyntheticResult(pace.seconds, pace.count)

    @_trial("loader")
    def loader(
        self, loader: Iterable[object], *, seconds: float = 20.0
    ) -> LoaderResult | None:
        """Iterate over the loader without the model to measure its throughput.

        Batches taken from an iterator, such as a generator, are lost for the training.
        """
        loader = loaders.unwrapped(loader)
        passage = self._pass(loader, Deadline(seconds))
        if passage.count and loaders.is_one_pass(loader):
            self._notices.warn(
                "probe an iterator",
                f"run.probe.loader: {passage.count} batches were taken from an iterator"
                " and are lost for training; pass an iterable that can be restarted,"
                " such as a DataLoader",
            )
        if passage.pace is None:
            self._report_too_few("loader", passage)
            return None
        return LoaderResult(
            passage.pace.seconds, passage.pace.count, passage.first_seconds
        )

    @_trial("cached")
    def cached(
        self,
        loader: Iterable[object],
        *,
        batches: int = _FEW_BATCHES,
        seconds: float = 40.0,
    ) -> CachedResult | None:
        """Load the same few batches twice to separate preparing from fetching.

        Args:
            loader: A PyTorch DataLoader, or an iterable that yields the same batches in
                each iteration.
            batches: The number of batches; they should fit into the page cache. A stream
                with workers is rounded up to whole rounds, after batches skipped while
                the workers start.
            seconds: The approximate duration, at most 60.
        """
        loader = loaders.unwrapped(loader)
        if loaders.is_one_pass(loader):
            self._warn(
                "cached",
                "an iterator cannot be read twice; pass an iterable that can be"
                " restarted, such as a DataLoader",
            )
            return None
        half = Deadline(seconds).seconds / 2
        few = loaders.few_batches(loader, batches)
        first = self._pass(few.batches, Deadline(half), most=few.most, ahead=few.ahead)
        if first.count >= few.fewest:
            # The same number as the first time, or the passes are not comparable.
            again = self._pass(
                few.batches, Deadline(half), most=first.count, ahead=few.ahead
            )
            if again.count == first.count:
                count = first.count
                return CachedResult(first.seconds / count, again.seconds / count, count)
        self._report_too_few("cached", first)
        return None

    @_trial("batch")
    def batch(
        self,
        step: Callable[[Any], object],
        make_batch: Callable[[int], Any],
        sizes: Sequence[int] = _SIZES,
        *,
        seconds: float = 40.0,
    ) -> BatchResult | None:
        """Try several batch sizes to measure how memory and time grow, and what fits.

        Args:
            step: A function that trains on a batch like the loop, without logging.
            make_batch: Makes a batch of a given size, on the device that the step expects.
            sizes: Two to four sizes; a size that does not fit ends the benchmark.
            seconds: The approximate total duration, at most 60.
        """
        deadline = Deadline(seconds)
        chosen = sorted({int(size) for size in sizes if size > 0})[:_MAX_SIZES]
        times: dict[int, float] = {}
        used: dict[int, int] = {}
        failed = None
        for number, size in enumerate(chosen):
            if times and deadline.left <= 0:
                break
            share = deadline.left / (len(chosen) - number)
            pace, peak = _try_size(step, make_batch, size, self._wait, Deadline(share))
            if pace is None:
                failed = size
                break
            times[size] = pace
            if peak is not None:
                used[size] = peak
        if not times:
            self._warn("batch", f"a batch of {failed} does not fit into memory")
            return None
        memory = fit_line([*used.items()])
        return BatchResult(
            step_seconds=times,
            memory_bytes=used,
            time=fit_line([*times.items()]),
            memory=memory,
            out_of_memory_at=failed,
            largest=largest_batch(
                memory, device.capacity_bytes(), tried=max(times), failed=failed
            ),
        )

    @_trial("workers")
    def workers(
        self,
        make_loader: Callable[[int], Iterable[object]],
        counts: Sequence[int] | None = None,
        *,
        seconds: float = 60.0,
    ) -> WorkersResult | None:
        """Iterate over loaders with several numbers of workers to find how many
        suffice.

        Args:
            make_loader: Makes a loader with a given number of worker processes.
            counts: By default 0, 2, 4, … and the number of cores of the job.
            seconds: The approximate total duration, at most 60.
        """
        deadline = Deadline(seconds)
        chosen = [*(counts or loaders.worker_counts(loaders.effective_cores()))]
        found: dict[int, float] = {}
        for number, count in enumerate(chosen):
            if deadline.left <= 0:
                break
            share = deadline.left / (len(chosen) - number)
            loader = loaders.unwrapped(make_loader(count))
            try:
                pace = self._pass(loader, Deadline(share)).pace
            finally:
                loaders.end_workers(loader)
                del loader
                device.free_memory()
            if pace is not None:
                found[count] = pace.seconds
        if not found:
            self._warn("workers", "no loader produced enough batches in time")
            return None
        return WorkersResult(found)

    def attempt(self, name: str, method: Callable[[], Found | None]) -> Found | None:
        """Run a micro-benchmark with step logging paused, and store its result."""
        if not self._is_enabled:
            return None
        try:
            with self._steps.paused(), random_numbers.kept():
                found = method()
        except Exception as error:  # noqa: BLE001 - foreign code
            # The script's own functions ran and may raise anything.
            device.free_memory()
            self._warn(name, f"failed: {error!r:.500}")
            return None
        if found is not None:
            for path, value in found.values().items():
                self._steps.state(f"probe/{name}/{path}", value)
        return found

    def _pass(
        self,
        loader: Iterable[object],
        deadline: Deadline,
        *,
        most: int | None = None,
        ahead: int = 0,
    ) -> Passage:
        with loaders.iterating(loader) as batches:
            pass_over(batches, ahead, deadline)
            return time_passage(
                batches, deadline, ready=loaders.batches_ready(loader), most=most
            )

    def _wait(self, result: object) -> None:
        device.wait_for_device(result)
        if device.may_be_unfinished(result):
            self._notices.warn(
                "probe jax",
                "run.probe: if the step uses JAX, return its results (any pytree of"
                " arrays), so that the benchmark can wait for them",
            )

    def _report_too_few(self, name: str, passage: Passage) -> None:
        self._warn(name, f"{passage.count} batches in time are too few for a result")

    def _warn(self, name: str, text: str) -> None:
        # Each call: a caller that repeats it expects a message.
        self._notices.forget(f"probe {name}")
        self._notices.warn(f"probe {name}", f"run.probe.{name}: {text}")


def _try_size(
    step: Callable[[Any], object],
    make_batch: Callable[[int], Any],
    size: int,
    wait: Callable[[object], None],
    deadline: Deadline,
) -> tuple[float | None, int | None]:
    """Return a step's seconds and peak memory in bytes; (None, None) if it does not
    fit.
    """
    try:
        device.reset_peak()
        batch = make_batch(size)
        pace = time_calls(lambda: step(batch), wait, deadline)
        return pace.seconds, device.peak_bytes()
    except Exception as error:
        if not device.is_out_of_memory(error):
            raise
    finally:
        batch = None
    # The frames of the failed call are released by now, with their memory.
    device.free_memory()
    return None, None
