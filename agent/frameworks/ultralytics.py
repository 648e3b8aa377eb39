"""Ultralytics YOLO: logs all trainings of a model.

from seamark.frameworks.ultralytics import attach

model = YOLO("yolo11n.pt")
attach(model, run)
model.train(data="coco8.yaml", epochs=3)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ultralytics

import seamark
from seamark.frameworks.guarded import guarded
from seamark.frameworks.plain_values import plain_value
from seamark.frameworks.runs import meant_run, run_for
from seamark.frameworks.torch import model_facts, optimizer_facts
from seamark.recording.loader import loader_facts
from seamark.recording.phases import Phase
from seamark.recording.steps import StepClock
from seamark.run import Run

_PACKAGE = "ultralytics"
# Methods of a trainer that start a phase, and the phase after them.
_PHASES: dict[str, tuple[str, str | None]] = {
    "preprocess_batch": ("copy", "forward"),
    "optimizer_step": ("optimizer", None),
    "save_model": ("checkpoint", None),
}


def attach(model: Any, run: Run | str | None = None, *, weights: bool = False) -> None:
    """Log all trainings of a model from now on; a second call replaces the first.

    Args:
        model: A `YOLO` model, or another one of Ultralytics.
        run: The run to log to, or its name; by default the open run, or a new one with
            the name that Ultralytics gives the training.
        weights: Whether to upload `best.pt` after the training.
    """
    callbacks = _Callbacks(run, uploads_weights=weights)
    for event in _EVENTS:
        known = model.callbacks[event]
        known[:] = [each for each in known if not _is_ours(each)]
        model.add_callback(event, getattr(callbacks, event))


def _is_ours(callback: Callable[..., Any]) -> bool:
    return isinstance(getattr(callback, "__self__", None), _Callbacks)


# Any, in this class: trainers and validators of the tasks share no documented type.
class _Callbacks:
    """The callbacks of one model; each process of a training has a copy."""

    def __init__(self, run: Run | str | None, *, uploads_weights: bool) -> None:
        self._given = run
        self._uploads_weights = uploads_weights
        self._run: Run | None = None
        self._clock: StepClock | None = None
        self._phase: Phase | None = None
        # Whether the metrics of an epoch are missing, and the number of that epoch.
        self._is_in_epoch = False
        self._epoch = 0
        # The timestamps of logged plots, by path.
        self._plots: dict[str, float] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Support pickling to the processes of a training on several GPUs."""
        given = meant_run(self._given) or self._given
        apart = ("_run", "_clock", "_phase")
        return {**vars(self), "_given": given, **dict.fromkeys(apart)}

    @guarded
    def on_pretrain_routine_start(self, trainer: Any) -> None:
        """Open the run, and log the arguments."""
        # An earlier training may have ended by an error.
        self._end_loop()
        self._plots.clear()
        self._is_in_epoch = False
        self._run = None
        self._log_arguments(trainer)

    @guarded
    def on_train_start(self, trainer: Any) -> None:
        """Time phases of the trainer, and store facts."""
        run = self._run_of(trainer)
        # Now with the batch size and the optimizer that Ultralytics has selected.
        self._log_arguments(trainer)
        for name, (phase, following) in _PHASES.items():
            self._time_method(trainer, name, phase, following)
        # Scaling the loss is the last call before the backward pass.
        self._time_method(trainer.scaler, "scale", "forward", "backward")
        run.steps.state_facts(_facts(trainer))
        run.steps.look_at_data(trainer.train_loader)

    @guarded
    def on_train_epoch_start(self, trainer: Any) -> None:
        """Start timing the steps of an epoch."""
        # After running out of memory, an epoch begins again.
        self._end_loop()
        run = self._run_of(trainer)
        if run.steps.begin(_PACKAGE):
            self._clock = StepClock(run.steps)
            self._clock.ask()
        self._is_in_epoch = True
        # From 1, as Ultralytics prints it.
        self._epoch = trainer.epoch + 1

    @guarded
    def on_train_batch_start(self, trainer: Any) -> None:
        """Note that a batch has arrived."""
        if self._clock is not None:
            self._clock.arrive()
            self._clock.examples = getattr(trainer.train_loader, "batch_size", None)

    @guarded
    def on_train_batch_end(self, trainer: Any) -> None:
        """Start the wait for the next batch."""
        self._leave_phase()
        if self._clock is not None:
            self._clock.ask()

    @guarded
    def on_train_epoch_end(self, trainer: Any) -> None:
        """End the last step of an epoch, without a data wait."""
        self._end_loop()

    @guarded
    def on_val_start(self, validator: Any) -> None:
        """Start the phase of an evaluation."""
        self._enter_phase("evaluate")

    @guarded
    def on_val_end(self, validator: Any) -> None:
        """End the phase of an evaluation."""
        self._leave_phase()

    @guarded
    def on_fit_epoch_end(self, trainer: Any) -> None:
        """Log losses, metrics and learning rates of an epoch, and new plots."""
        self._leave_phase()
        is_in_epoch, self._is_in_epoch = self._is_in_epoch, False
        if _rank():
            return
        run = self._run_of(trainer)
        if is_in_epoch:
            metrics = {
                **trainer.label_loss_items(trainer.tloss, prefix="train"),
                **trainer.metrics,
                **trainer.lr,
            }
            run.log(_numbers(metrics), step=self._epoch)
        else:
            # The evaluation of best.pt after the last epoch.
            for name, value in _numbers(trainer.metrics).items():
                run[f"best/{name}"] = value
        self._log_plots(run, trainer)

    @guarded
    def on_train_end(self, trainer: Any) -> None:
        """Log the last plots and the metrics of classes, and upload the weights."""
        run = self._run_of(trainer)
        self._log_plots(run, trainer)
        self._log_classes(run, trainer)
        if self._uploads_weights and trainer.best.exists():
            run["weights/best"].upload(trainer.best)

    @guarded
    def teardown(self, trainer: Any) -> None:
        """Stop timing, also after an error; the run stays open."""
        self._end_loop()

    def _run_of(self, trainer: Any) -> Run:
        if self._run is None:
            name = str(trainer.args.name)
            self._run = run_for(self._given, rank=_rank() or None, name=name)
        return self._run

    def _log_arguments(self, trainer: Any) -> None:
        if not _rank():
            run = self._run_of(trainer)
            run["params"] = plain_value(vars(trainer.args))

    def _time_method(
        self, owner: Any, name: str, phase: str, following: str | None
    ) -> None:
        method = getattr(owner, name, None)
        if method is None:
            return

        @functools.wraps(method)
        def timed(*given: Any, **named: Any) -> Any:
            self._enter_phase(phase)
            result = method(*given, **named)
            self._leave_phase()
            if following is not None:
                self._enter_phase(following)
            return result

        setattr(owner, name, timed)

    def _log_plots(self, run: Run, trainer: Any) -> None:
        plots = {**trainer.plots, **getattr(trainer.validator, "plots", {})}
        for path, details in plots.items():
            made_at = details["timestamp"]
            if self._plots.get(str(path)) != made_at and Path(path).exists():
                self._plots[str(path)] = made_at
                picture = seamark.Image(Path(path))
                run[f"plots/{Path(path).stem}"].append(picture, step=self._epoch)

    @guarded
    def _log_classes(self, run: Run, trainer: Any) -> None:
        # Not in early releases, and not for all tasks.
        summary = getattr(trainer.validator.metrics, "summary", None)
        rows = summary() if summary is not None else []
        if rows:
            run["best/classes"] = seamark.Table(rows)

    @guarded
    def _enter_phase(self, name: str) -> None:
        self._leave_phase()
        if self._run is not None:
            self._phase = self._run.phase(name)
            self._phase.__enter__()

    @guarded
    def _leave_phase(self) -> None:
        phase, self._phase = self._phase, None
        if phase is not None:
            phase.__exit__(None, None, None)

    def _end_loop(self) -> None:
        # An error may have ended the loop in a phase.
        self._leave_phase()
        if self._clock is not None and self._run is not None:
            self._clock.stop()
            self._run.steps.end(_PACKAGE)
        self._clock = None


_EVENTS = tuple(
    name for name in vars(_Callbacks) if name.startswith("on_") or name == "teardown"
)


def _rank() -> int:
    # As Ultralytics determines it; without a launcher there is none.
    return max(0, int(os.environ.get("RANK", "-1")))


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}


def _facts(trainer: Any) -> dict[str, object]:
    facts = loader_facts(trainer.train_loader)
    facts |= {f"model/{n}": v for n, v in model_facts(trainer.model).items()}
    settings = optimizer_facts(trainer.optimizer)
    facts |= {f"optimizer/{n}": v for n, v in settings.items()}
    is_bfloat16 = getattr(trainer.args, "amp", None) == "bf16"
    types = {True: "bfloat16", False: "float16"}
    facts["torch/autocast"] = types[is_bfloat16] if trainer.amp else "off"
    # The diagnosis suggests arguments of `train`.
    facts["framework"] = _PACKAGE
    facts["ultralytics/version"] = ultralytics.__version__
    facts["ultralytics/task"] = str(trainer.args.task)
    facts["ultralytics/accumulated_batches"] = trainer.accumulate
    return facts
