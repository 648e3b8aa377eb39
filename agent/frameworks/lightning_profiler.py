"""Derives steps and phases from the actions that Lightning reports to its profiler."""

from __future__ import annotations

from typing import Any

from seamark.frameworks.guarded import guarded
from seamark.frameworks.lightning_package import Profiler
from seamark.recording.phases import Phase
from seamark.recording.steps import StepClock
from seamark.run import Run

_FETCH = "fetch"
# With manual optimization Lightning reports the optimizer; our callback adds this.
BACKWARD = "backward"
_EXACT = {"optimizer_step": "optimizer", BACKWARD: "backward"}
# Suffix and prefix of an action's name: the names of strategies vary.
_ACTIONS = {
    (".train_dataloader_next", "["): _FETCH,
    (".batch_to_device", "[Strategy]"): "copy",
    (".training_step", "[Strategy]"): "forward",
    (".backward", "[Strategy]"): "backward",
    (".optimizer_step", "[LightningModule]"): "optimizer",
}


class StepProfiler(Profiler):
    """Times training only: validation belongs to no step."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self.clock = StepClock(run.steps)
        self._is_timing = False
        # Whether training on the last batch has begun.
        self._is_begun = False
        self._kinds: dict[str, str | None] = {**_EXACT}
        self._open: dict[str, Phase] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickles with the trainer, without the timing state."""
        return StepProfiler, (self.run,)

    def begin(self) -> None:
        """Start timing the training loop."""
        self._is_timing = self.run.steps.begin()

    def end(self) -> None:
        """Stop timing the training loop."""
        if self._is_timing:
            self.clock.stop()
            self.run.steps.end()
        self._is_timing = False

    def begin_batch(self, examples: int | None) -> None:
        """Note that training on a batch begins."""
        self._is_begun = True
        self.clock.examples = examples

    @guarded
    def start(self, action_name: str) -> None:
        """Start an action."""
        kind = self._kind(action_name)
        if kind is None or not self._is_timing:
            return
        if kind is _FETCH:
            if self.clock.is_in_step and not self._is_begun:
                # For a loader without a length, Lightning prefetches a batch before an
                # epoch, which begins no step.
                self.clock = StepClock(self.run.steps)
            self.clock.ask()
        # Validation copies batches too, outside of any step.
        elif self.clock.is_in_step:
            # A phase left open by an error that the user caught starts again.
            phase = self._open.setdefault(action_name, self.run.phase(kind))
            phase.__enter__()

    @guarded
    def stop(self, action_name: str) -> None:
        """End an action."""
        kind = self._kind(action_name)
        if kind is None:
            return
        if kind is _FETCH:
            if self._is_timing:
                self.clock.arrive()
                self._is_begun = False
        elif (phase := self._open.pop(action_name, None)) is not None:
            phase.__exit__(None, None, None)

    def _kind(self, action_name: str) -> str | None:
        if action_name not in self._kinds:
            self._kinds[action_name] = next(
                (
                    kind
                    for (end, beginning), kind in _ACTIONS.items()
                    if action_name.endswith(end) and action_name.startswith(beginning)
                ),
                None,
            )
        return self._kinds[action_name]
