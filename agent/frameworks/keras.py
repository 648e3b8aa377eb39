"""A callback for `fit` of Keras 3, for every backend.

model.fit(x, y, callbacks=[SeamarkCallback(run)])
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import keras

from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_for
from seamark.recording.steps import StepClock
from seamark.run import Run

_FRAMEWORKS = {"torch": "pytorch", "numpy": "plain"}
# Backends that fetch a batch before it begins; others fetch it in the training call.
_FETCHES_BEFORE = ("torch",)


class SeamarkCallback(keras.callbacks.Callback):
    """Logs metrics of epochs, and times steps; with PyTorch also their data wait.

    If several processes train one model, each times its own steps; only the first logs
    metrics.

    Args:
        run: The run to log to, or its name; by default the open run.
    """

    # Metrics are read only at the end of an epoch, so that no step waits for them.
    async_safe = True

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        self._given = run
        self._run: Run | None = None
        self._is_first = True
        self._clock: StepClock | None = None
        self._batch = 0
        # The last batch that has ended, and the time of that.
        self._ended: tuple[int, float] | None = None

    @guarded
    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Start timing the loop."""
        # An earlier loop may have ended by an error, which callbacks do not see.
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

    @guarded
    def on_train_batch_begin(
        self, batch: int, logs: Mapping[str, Any] | None = None
    ) -> None:
        """Note that a batch has arrived."""
        ended, self._ended = self._ended, None
        if self._clock is not None:
            # Keras may report the end of a batch from another thread, after its
            # results. If the next batch arrived before, there was no wait, and the end
            # of an earlier batch is no evidence of one.
            if ended is None or ended[0] < self._batch:
                self._clock.ask()
            else:
                self._clock.ask(ended[1])
            self._clock.arrive()
        self._batch = batch

    @guarded
    def on_train_batch_end(
        self, batch: int, logs: Mapping[str, Any] | None = None
    ) -> None:
        """Start the wait for the next batch."""
        self._ended = batch, time.perf_counter()

    @guarded
    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Exclude validation from the steps."""
        if self._clock is not None:
            self._clock.stop()

    @guarded
    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Log the epoch's metrics: `loss` as `train/loss`, `val_loss` as `val/loss`."""
        if self._clock is not None:
            self._clock.stop()
        if self._run is not None and self._is_first and logs:
            self._run.log({_path(n): v for n, v in logs.items()}, step=epoch)

    @guarded
    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Stop timing the loop; the run stays open until the script ends."""
        if self._clock is not None:
            self._clock.stop()
        self._end_loop()

    def _end_loop(self) -> None:
        if self._clock is not None and self._run is not None:
            self._run.steps.end("keras")
        self._clock = None


def _rank() -> int | None:
    """Return the rank in a distributed Keras training; None otherwise."""
    # Without a distribution, each process trains its own model.
    if keras.backend.backend() != "jax" or keras.distribution.distribution() is None:
        return None
    # Keras has imported the selected backend.
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
