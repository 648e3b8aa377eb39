"""Keras 3, whatever computes for it: a callback for `fit`.

from seamark.frameworks.keras import SeamarkCallback

model.fit(x, y, callbacks=[SeamarkCallback(run)])
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import keras

from seamark.frameworks.quiet import quiet
from seamark.frameworks.runs import run_for
from seamark.recording.steps import StepClock
from seamark.run import Run

_FRAMEWORKS = {"torch": "pytorch", "numpy": "plain"}
# Where a batch is there when it begins. Elsewhere the call that computes fetches it.
_FETCHES_BEFORE = ("torch",)


class SeamarkCallback(keras.callbacks.Callback):
    """Logs the metrics of epochs, and times steps; with PyTorch their wait for data, too.

    Where several processes train one model, each times its own steps; metrics are those
    of the first one.

    Args:
        run: The run to log into, or its name; by default the one that is open.
    """

    # Metrics are read at the end of an epoch alone, so that no step waits for them.
    async_safe = True

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        self._given = run
        self._run: Run | None = None
        self._is_first = True
        self._clock: StepClock | None = None
        self._batch = 0
        # The batch that has ended last, and when.
        self._ended: tuple[int, float] | None = None

    @quiet
    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """The loop begins."""
        # An earlier loop may have ended by an error, of which callbacks are not told.
        self._end_loop()
        rank = _rank()
        self._run = run = run_for(self._given, rank=rank)
        self._is_first = not rank
        if self._is_first and self.params:
            run["params/fit"] = {
                k: v for k, v in self.params.items() if isinstance(v, (int, float))
            }
        if run.steps.begin("keras"):
            is_waiting = keras.backend.backend() in _FETCHES_BEFORE
            self._clock = StepClock(run.steps, is_waiting=is_waiting)
        run.steps.state_facts(_facts(self.model))

    @quiet
    def on_train_batch_begin(
        self, batch: int, logs: Mapping[str, Any] | None = None
    ) -> None:
        """A mini-batch is there."""
        ended, self._ended = self._ended, None
        if self._clock is not None:
            # Keras may tell the end of a batch from another thread, once its results are
            # there. Where the next batch is there before, nothing waits for it; the end
            # of an earlier one says nothing of that.
            if ended is None or ended[0] < self._batch:
                self._clock.ask()
            else:
                self._clock.ask(ended[1])
            self._clock.arrive()
        self._batch = batch

    @quiet
    def on_train_batch_end(
        self, batch: int, logs: Mapping[str, Any] | None = None
    ) -> None:
        """From here on the next one is waited for."""
        self._ended = batch, time.perf_counter()

    @quiet
    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Validation is no part of a step."""
        if self._clock is not None:
            self._clock.stop()

    @quiet
    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Log the epoch's metrics: `loss` as `train/loss`, `val_loss` as `val/loss`."""
        if self._clock is not None:
            self._clock.stop()
        if self._run is not None and self._is_first and logs:
            self._run.log({_path(n): v for n, v in logs.items()}, step=epoch)

    @quiet
    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """The loop is over; the run goes on, and ends with the script."""
        if self._clock is not None:
            self._clock.stop()
        self._end_loop()

    def _end_loop(self) -> None:
        if self._clock is not None and self._run is not None:
            self._run.steps.end("keras")
        self._clock = None


def _rank() -> int | None:
    """Return which process of one training this is, where Keras spreads it."""
    # Without a distribution, each process trains a model of its own.
    if keras.backend.backend() != "jax" or keras.distribution.distribution() is None:
        return None
    # Keras has imported the one backend that was chosen.
    return int(sys.modules["jax"].process_index())


def _facts(model: Any) -> dict[str, object]:
    backend = keras.backend.backend()
    optimizer = getattr(model, "optimizer", None)
    facts: dict[str, object] = {
        "framework": _FRAMEWORKS.get(backend, backend),
        "keras/version": keras.__version__,
        "keras/backend": backend,
        "keras/precision": keras.config.dtype_policy().name,
        "model/class": type(model).__name__,
        "model/compiled": bool(getattr(model, "jit_compile", False)),
    }
    if model.built:
        facts["model/parameters"] = model.count_params()
    if optimizer is not None:
        facts["optimizer/class"] = type(optimizer).__name__
    return facts


def _path(name: str) -> str:
    if name.startswith("val_"):
        return f"val/{name.removeprefix('val_')}"
    return f"train/{name}"
