"""Times the steps of a training loop: data wait, phases, and the whole step."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from seamark.lifecycle.background import importing
from seamark.recording.attributes import Recorder
from seamark.recording.device_times import DeviceTimes
from seamark.recording.media.datasets import find_data_folder

if TYPE_CHECKING:
    from seamark.frameworks.torch_loop import TorchLoop
    from seamark.recording.phases import Phase

logger = logging.getLogger(__name__)

# In this order: a framework may import those after it.
_FRAMEWORKS = (("torch", "pytorch"), ("tensorflow", "tensorflow"), ("jax", "jax"))
# Autocast is checked in the phases of the first steps only; later steps do the same.
_STEPS_DESCRIBED = 3
_MAX_PATHS_KEPT = 1_000
# Limit of batches of inner loops within one step, per step of the outer loop: an
# evaluation has fewer, and an abandoned iterator makes no steps.
_BATCHES_WITHIN = 1_000
# Kept in forked children: to destroy an event of CUDA there ends the process.
_left_to_parent: list[object] = []


class Steps:
    """Collects the parts of the current step and logs them when it ends."""

    def __init__(self, recorder: Recorder, namespace: str) -> None:
        self._recorder = recorder
        self._namespace = namespace
        self._steps = 0
        self._loop_thread: int | None = None
        self._loop_framework: str | None = None
        self._phases: dict[str, float] = {}
        # By the names of the outer and the nested phase.
        self._nested: dict[tuple[str, str], float] = {}
        self._phase_counts: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self._reported: dict[str, object] = {}
        self._torch: TorchLoop | None = None
        self._device: DeviceTimes | None = None
        # Whether the device of the timed loop is known.
        self._is_device_known = False
        self._has_given_up = False
        # One entry per active benchmark; some overlap. A lock could block a signal
        # handler or a forked child; list operations are atomic.
        self._pauses: list[None] = []
        self._steps_of_loop = 0
        self._batches_within = 0
        # The folder of the loop's data, if its loader names one.
        self.data_folder: Path | None = None

    @property
    def is_looping(self) -> bool:
        """Whether a loop is being timed."""
        return self._loop_thread is not None and not self._is_left()

    @property
    def is_paused(self) -> bool:
        """Whether logging of steps and phases is paused."""
        return bool(self._pauses)

    def begin(self, framework: str | None = None) -> bool:
        """Start timing a loop; False inside another loop, which counts it as part of
        its step.

        The callbacks of some frameworks are not called when an error ends the loop.
        They pass the framework's package name, and its next loop in this thread
        replaces the old one.
        """
        loop = threading.get_ident(), framework
        is_again = framework is not None and loop == (
            self._loop_thread,
            self._loop_framework,
        )
        if self._pauses:
            return False
        if self.is_looping and not is_again:
            self._warn_of_other_thread()
            return False
        self._loop_thread, self._loop_framework = loop
        self._steps_of_loop = self._batches_within = 0
        self._phases.clear()
        self._nested.clear()
        self._look_at_framework()
        return True

    def end(self, framework: str | None = None) -> None:
        """Stop timing; with a framework, only if the loop is its own."""
        if framework is not None and framework != self._loop_framework:
            return
        self._loop_thread = None
        if self._device is not None:
            self._put_device_times()

    def record(
        self, *, seconds: float, wait_seconds: float | None, examples: int | None
    ) -> None:
        """Log the step that has just ended."""
        measured = {"seconds": seconds}
        if wait_seconds is not None:
            measured["data_wait_seconds"] = wait_seconds
        if examples is not None:
            measured["examples"] = float(examples)
        for name, spent in self._phases.items():
            measured[f"phase/{name}_seconds"] = spent
        self._phases.clear()
        if self._nested:
            for (around, part), spent in self._nested.items():
                measured[f"nested/{around}/{part}_seconds"] = spent
            self._nested.clear()
        moment = time.time_ns() // 1_000
        self._put(measured, float(self._steps), moment)
        device = self._device
        if device is not None:
            device.end_step(self._steps, moment)
            self._put_device_times()
        if (
            self._torch is not None
            and not self._is_device_known
            and self._steps_of_loop < _STEPS_DESCRIBED
        ):
            # Some loops use the GPU first in their first step.
            self._look_at_framework()
        self._steps += 1
        self._steps_of_loop += 1
        self._batches_within = 0

    def pass_within(self) -> None:
        """Count a batch of an untimed loop, possibly within a step."""
        if self._pauses or self._loop_thread != threading.get_ident():
            return
        self._batches_within += 1
        most = _BATCHES_WITHIN * (1 + self._steps_of_loop)
        if self._batches_within == most and self._loop_framework is None:
            self._recorder.notices.warn(
                "loop within a step",
                f"a loop has processed {most:,} batches within one step of another"
                " loop over run.loader and is timed as part of that step. If nothing"
                " iterates over the other one any more, for example after"
                " next(iterator) with iterator = iter(run.loader(...)), close it:"
                " iterator.close()",
            )

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Pause logging of steps and phases."""
        self._pauses.append(None)
        try:
            yield
        finally:
            self._pauses.pop()

    def state_facts(self, facts: Mapping[str, object]) -> None:
        """Log facts about the loop; unchanged facts are not repeated."""
        for name, value in facts.items():
            if name not in self._reported or self._reported[name] != value:
                self._reported[name] = value
                self._recorder.set_value(f"{self._namespace}/facts/{name}", value)

    def has_reported(self, name: str) -> bool:
        """Return whether a fact of that name was logged."""
        return name in self._reported

    def look_at_data(self, loader: object) -> None:
        """Find the folder of the data; the last loader that names one counts."""
        self.data_folder = find_data_folder(loader) or self.data_folder

    def state(self, path: str, value: object) -> None:
        """Log a value, or several from nested dictionaries, about this process."""
        self._recorder.set_value(f"{self._namespace}/{path}", value)

    def release_device(self) -> None:
        """Drop the device and its pending events at the end of the run."""
        self._torch = self._device = None
        self._has_given_up = True

    def start_anew_in_child(self) -> None:
        """Leave the parent's loop and its device, which a forked child cannot use.

        A child forked by a benchmark belongs to it and stays paused.
        """
        _left_to_parent.append((self._torch, self._device))
        self._torch = self._device = None
        # The child's thread has the same number.
        self._loop_thread = None
        self._phases.clear()
        self._nested.clear()

    def opened(self, phase: Phase) -> None:
        """Note the start of a phase, which may be nested."""
        if self._pauses:
            return
        if self._device is not None and self._loop_thread == threading.get_ident():
            try:
                phase.span = self._device.open(phase.name)
            except Exception:  # noqa: BLE001 - foreign code
                self._give_up()

    def closed(
        self, phase: Phase, own: float, parts: Mapping[str, float] | None
    ) -> None:
        """Log a phase that has ended: its own time, and that of its nested phases."""
        if phase.span is not None or (
            self._torch is not None and self._is_asking_phases
        ):
            self._close_for_framework(phase)
        if self._pauses:
            return
        name = phase.name
        if self._loop_thread == threading.get_ident():
            self._phases[name] = self._phases.get(name, 0.0) + own
            if parts:
                for part, spent in parts.items():
                    pair = name, part
                    self._nested[pair] = self._nested.get(pair, 0.0) + spent
        elif self._loop_thread is None:
            # Without a loop each phase has its own step counter.
            count = self._phase_counts.get(name, 0)
            self._phase_counts[name] = count + 1
            measured = {f"phase/{name}_seconds": own}
            for part, spent in (parts or {}).items():
                measured[f"nested/{name}/{part}_seconds"] = spent
            self._put(measured, float(count))
        else:
            self._recorder.notices.inform(
                "phase of another thread",
                "a phase is not logged because it runs in another thread than the timed"
                " loop",
            )

    def _put(
        self, measured: Mapping[str, float], step: float, moment: int | None = None
    ) -> None:
        paths = self._paths
        named = {
            paths.get(name) or self._path(name): value
            for name, value in measured.items()
        }
        self._recorder.log_measured(named, step, moment)

    def _path(self, name: str) -> str:
        path = f"{self._namespace}/step/{name}"
        # Phase names may be generated at each step, so the cache is bounded.
        if len(self._paths) < _MAX_PATHS_KEPT:
            self._paths[name] = path
        return path

    def _warn_of_other_thread(self) -> None:
        if self._loop_thread in (None, threading.get_ident()):
            return
        self._recorder.notices.warn(
            "loop of another thread",
            "a loop is not timed because one of another thread is: a run times one loop"
            " at a time",
        )

    def _is_left(self) -> bool:
        """Return whether an error ended a framework's loop without a callback.

        The loop still runs if the framework's code is on the stack of its thread.
        """
        if self._loop_framework is None or self._loop_thread != threading.get_ident():
            return False
        frame: FrameType | None = sys._getframe()  # noqa: SLF001 - documented
        while frame is not None:
            module = str(frame.f_globals.get("__name__"))
            if module.partition(".")[0] == self._loop_framework:
                return False
            frame = frame.f_back
        return True

    def _ask_framework(self) -> None:
        """Read PyTorch's settings if it is imported; never import it."""
        if self._has_given_up:
            return
        if self._torch is None and "torch" in sys.modules:
            with importing():
                from seamark.frameworks.torch_loop import TorchLoop  # noqa: PLC0415
            self._torch = TorchLoop()
        if self._torch is None:
            return
        self.state_facts(self._torch.facts())
        # Each loop may use another device or none; steps of earlier loops may still be
        # pending.
        found = self._torch.device_times()
        self._is_device_known = found is not None
        self._device = found or self._device
        if self._device is not None:
            self._device.forget_step()

    def _look_at_framework(self) -> None:
        try:
            self._ask_framework()
        except Exception:  # noqa: BLE001 - foreign code
            self._give_up()

    @property
    def _is_asking_phases(self) -> bool:
        return (
            self._torch is not None
            and self._steps < _STEPS_DESCRIBED
            and self._loop_thread == threading.get_ident()
        )

    def _close_for_framework(self, phase: Phase) -> None:
        try:
            if phase.span is not None and self._device is not None:
                self._device.close(phase.span)
        except Exception:  # noqa: BLE001 - foreign code
            self._give_up()
        if self._torch is not None and self._is_asking_phases:
            # Failing to read a fact must not disable device times.
            with contextlib.suppress(Exception):
                self.state_facts(self._torch.autocast_facts())

    def _put_device_times(self) -> None:
        """Log the steps that the device has finished; the others wait."""
        if self._device is None:
            return
        try:
            for step, moment, seconds in self._device.take():
                measured = {f"device/{name}_seconds": s for name, s in seconds.items()}
                self._put(measured, float(step), moment)
        except Exception:  # noqa: BLE001 - foreign code
            self._give_up()

    def _give_up(self) -> None:
        """Stop using the framework: after a device error all calls fail."""
        logger.debug("the framework cannot be queried", exc_info=True)
        self._torch = self._device = None
        self._has_given_up = True


class StepClock:
    """Derives steps from the times at which batches are requested and arrive.

    A step lasts from one batch's arrival to the next; the wait is its end.
    """

    def __init__(self, steps: Steps, *, is_waiting: bool = True) -> None:
        # Examples in the batch that arrived last.
        self.examples: int | None = None
        self._steps = steps
        # If a loop has all data from the start, its wait is unknown, not 0.
        self._is_waiting = is_waiting
        # None if no request was reported: the wait of that step is unknown.
        self._requested_at: float | None = None
        self._arrived: float | None = None

    @property
    def is_in_step(self) -> bool:
        """Whether a batch has arrived and its step has not ended."""
        return self._arrived is not None

    def ask(self, moment: float | None = None) -> None:
        """Note that the next batch is requested, now or at a past time.perf_counter().

        A repeated request replaces the earlier one.
        """
        self._requested_at = time.perf_counter() if moment is None else moment

    def arrive(self) -> None:
        """Note that the next batch has arrived or none is left, which ends a step."""
        now = time.perf_counter()
        requested_at, self._requested_at = (
            self._requested_at if self._is_waiting else None,
            None,
        )
        if self._arrived is not None:
            self._steps.record(
                seconds=now - self._arrived,
                wait_seconds=None if requested_at is None else now - requested_at,
                examples=self.examples,
            )
        self._arrived = now

    def stop(self) -> None:
        """End the loop and its last step."""
        if self._arrived is not None:
            self.ask()
            self.arrive()
        self._arrived = None


def find_framework() -> str:
    """Return the framework that this process has imported, or `plain`."""
    for module, name in _FRAMEWORKS:
        if module in sys.modules:
            return name
    return "plain"
