"""LightGBM: a callback for `train`, `cv` and the scikit-learn classes.

    from seamark.frameworks.lightgbm import SeamarkCallback

    lightgbm.train(params, data, valid_sets=[data], callbacks=[SeamarkCallback(run)])

LightGBM itself is not imported here: a callback is any object that can be called.
"""

from __future__ import annotations

from typing import Any

from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_for
from seamark.recording.steps import StepClock
from seamark.run import Run


class SeamarkCallback:
    """Logs the metrics and the duration of each round.

    Args:
        run: The run to log to, or its name; by default the open run.
    """

    # After a round, and before early stopping, which raises an exception.
    before_iteration = False
    order = 15

    def __init__(self, run: Run | str | None = None) -> None:
        self._run = run_for(run)
        self._rounds: StepClock | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Support pickles, without the timing state."""
        return {**vars(self), "_rounds": None}

    # Any: the environment's type is LightGBM's own.
    @guarded
    def __call__(self, env: Any) -> None:
        """Log a round."""
        if env.iteration == env.begin_iteration:
            self._begin(env.params)
        if self._rounds is not None:
            self._rounds.arrive()
        metrics: dict[str, float] = {}
        # Cross-validation adds the deviation.
        for data, name, value, _is_higher_better, *deviation in (
            env.evaluation_result_list or ()
        ):
            metrics[f"{data}/{name}"] = value
            if deviation:
                metrics[f"{data}/{name}_deviation"] = deviation[0]
        if metrics:
            self._run.log(metrics, step=env.iteration)

    def _begin(self, params: Any) -> None:
        steps = self._run.steps
        # Inside a timed loop, the rounds are part of its steps.
        self._rounds = None if steps.is_looping else StepClock(steps, is_waiting=False)
        if params:
            self._run["params/booster"] = dict(params)
