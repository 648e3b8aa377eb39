"""Stable-Baselines3: a callback for `learn`.

from seamark.frameworks.stable_baselines3 import SeamarkCallback

model.learn(100_000, callback=SeamarkCallback(run))
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Figure, HParam, Image, KVWriter, Video

import seamark
from seamark.frameworks.guarded import guarded
from seamark.frameworks.plain_values import plain_value
from seamark.frameworks.runs import run_for
from seamark.frameworks.torch import model_facts
from seamark.recording.phases import Phase
from seamark.recording.steps import StepClock
from seamark.run import Run

_PACKAGE = "stable_baselines3"
# Arguments of algorithms that are objects, or that are logged in another form.
_NOT_PARAMS = ("env", "policy", "tensorboard_log", "_init_setup_model")


class SeamarkCallback(BaseCallback):
    """Logs the values of the model's logger, episodes, and hyperparameters by timestep.

    A step of the loop is one rollout with the training after it, in the phases
    `rollout` and `train`.

    Args:
        run: The run to log to, or its name; by default the open run.
    """

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        self._given = run
        self._run: Run | None = None
        self._clock: StepClock | None = None
        self._phase: Phase | None = None
        self._writer: _Writer | None = None
        self._rollout_began_at = 0

    def __getstate__(self) -> dict[str, Any]:
        """Support pickling, without the timing state."""
        apart = ("_clock", "_phase", "_writer")
        return {**vars(self), **dict.fromkeys(apart)}

    @guarded
    def _on_training_start(self) -> None:
        # An earlier loop may have ended by an error, which callbacks do not see.
        self._end_loop()
        self._run = run = run_for(self._given)
        run["params"] = _params(self.model, self.locals)
        self._listen(run)
        if run.steps.begin(_PACKAGE):
            self._clock = StepClock(run.steps, is_waiting=False)
        run.steps.state_facts(_facts(self.model))

    @guarded
    def _on_rollout_start(self) -> None:
        self._leave_phase()
        if self._clock is not None:
            self._clock.arrive()
        self._rollout_began_at = self.model.num_timesteps
        self._enter_phase("rollout")

    def _on_step(self) -> bool:
        self._log_episodes()
        return True

    @guarded
    def _on_rollout_end(self) -> None:
        if self._clock is not None:
            self._clock.examples = self.model.num_timesteps - self._rollout_began_at
        self._enter_phase("train")

    @guarded
    def _on_training_end(self) -> None:
        if self._writer is not None:
            # On-policy algorithms write losses after the next rollout, if there is one.
            now = self.model.num_timesteps
            if self._writer.last_step == now:
                now += now - self._rollout_began_at
            logger = self.model.logger
            self._writer.write(logger.name_to_value, logger.name_to_excluded, now)
        self._stop_listening()
        self._end_loop()

    @guarded
    def _log_episodes(self) -> None:
        """Log the mean of the episodes that end at this timestep, one per environment."""
        ended = [info["episode"] for info in self._infos() if "episode" in info]
        if not ended or self._run is None:
            return
        points = {
            f"rollout/episode_{name}": sum(float(each[key]) for each in ended)
            / len(ended)
            for name, key in (("reward", "r"), ("length", "l"))
        }
        self._run.log(points, step=self.num_timesteps)

    def _infos(self) -> Any:
        return self.locals.get("infos") or ()

    def _listen(self, run: Run) -> None:
        self._stop_listening()
        self._writer = _Writer(run)
        self.model.logger.output_formats.append(self._writer)

    def _stop_listening(self) -> None:
        # A logger that the user has set is also that of the next training.
        formats = self.model.logger.output_formats
        formats[:] = [each for each in formats if not isinstance(each, _Writer)]
        self._writer = None

    def _enter_phase(self, name: str) -> None:
        self._leave_phase()
        if self._run is not None:
            self._phase = self._run.phase(name)
            self._phase.__enter__()

    def _leave_phase(self) -> None:
        phase, self._phase = self._phase, None
        if phase is not None:
            phase.__exit__(None, None, None)

    def _end_loop(self) -> None:
        self._leave_phase()
        if self._clock is not None and self._run is not None:
            self._clock.stop()
            self._run.steps.end(_PACKAGE)
        self._clock = None


class _Writer(KVWriter):
    """Receives the values that the model's logger writes, with their timestep."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.last_step = -1

    @guarded
    def write(
        self,
        key_values: Mapping[str, Any],
        key_excluded: Mapping[str, Any],
        step: int = 0,
    ) -> None:
        """Log values, except those that only a console shows."""
        self.last_step = step
        points = {
            name: _value(value)
            for name, value in key_values.items()
            if value is not None
            and not isinstance(value, HParam)
            and "tensorboard" not in (key_excluded.get(name) or ())
        }
        if points:
            self._run.log(points, step=step)

    def close(self) -> None:
        """Leave the run open for another training."""


# Any: all types that the logger accepts.
def _value(value: Any) -> Any:
    if isinstance(value, Figure):
        return seamark.Image(value.figure)
    if isinstance(value, Image):
        return seamark.Image(value.image)
    if isinstance(value, Video):
        # Shape: (videos, frames, channels, height, width).
        return [seamark.Video(each, value.fps) for each in value.frames]
    if getattr(value, "shape", ()):
        return seamark.Histogram(value)
    return value


def _params(model: Any, learning: Mapping[str, Any]) -> dict[str, object]:
    """Return the arguments of the algorithm and of `learn`, and the environment."""
    env = model.get_env()
    found: dict[str, object] = {
        "algorithm": type(model).__name__,
        "policy": type(model.policy).__name__,
        "total_timesteps": learning.get("total_timesteps"),
        "environment": _environment(env),
        "environments": getattr(env, "num_envs", None),
    }
    for name in inspect.signature(type(model).__init__).parameters:
        if name not in _NOT_PARAMS and hasattr(model, name):
            found[name] = _argument(getattr(model, name))
    return {name: value for name, value in found.items() if value is not None}


# Any, here and below: arguments have any type.
def _argument(value: Any) -> object:
    if not callable(value) or isinstance(value, type):
        return plain_value(value)
    # A schedule, by the remaining progress: its value at the begin.
    try:
        return float(value(1.0))
    except Exception:  # noqa: BLE001 - foreign code
        return plain_value(value)


def _environment(env: Any) -> str | None:
    """Return the id of the environment, such as `CartPole-v1`."""
    try:
        (spec,) = env.get_attr("spec", 0)
        return str(spec.id)
    except Exception:  # noqa: BLE001 - foreign code
        # Environments need no specification.
        return None


def _facts(model: Any) -> dict[str, object]:
    facts: dict[str, object] = {
        "framework": "pytorch",
        "stable_baselines3/version": stable_baselines3.__version__,
        "stable_baselines3/vector": type(model.get_env()).__name__,
        "stable_baselines3/device": str(model.device),
    }
    if isinstance(model.policy, torch.nn.Module):
        found = model_facts(model.policy)
        facts |= {f"model/{name}": value for name, value in found.items()}
    return facts
