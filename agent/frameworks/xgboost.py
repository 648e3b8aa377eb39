"""XGBoost: a callback for `train`, `cv` and the scikit-learn classes.

from seamark.frameworks.xgboost import SeamarkCallback

xgboost.train(params, data, evals=[(data, "train")], callbacks=[SeamarkCallback(run)])
"""

from __future__ import annotations

import json
from typing import Any

from xgboost.callback import TrainingCallback

try:
    from xgboost.collective import get_rank
except ImportError:
    # Before 1.7.
    from xgboost.rabit import get_rank  # type: ignore[no-redef]

from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_for
from seamark.recording.steps import StepClock
from seamark.run import Run


class SeamarkCallback(TrainingCallback):
    """Logs the metrics and the duration of each round.

    If several processes train one booster, as with Dask and Spark, only the first one
    logs.

    Args:
        run: The run to log to, or its name; by default the open run.
    """

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        self._run = run_for(run)
        self._rounds: StepClock | None = None
        self._is_first = True
        # The current round, the history of metrics, and their number at its begin.
        self._round: tuple[int, Any, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Support pickling with the estimator, without the timing state."""
        return {**vars(self), "_rounds": None, "_round": None}

    def before_training(self, model: Any) -> Any:
        """Log the booster's settings."""
        self._begin(model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Note that a round begins."""
        if self._rounds is not None:
            self._rounds.arrive()
        self._expect(epoch, evals_log)
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Log a round; for cross-validation the mean and the standard deviation."""
        self._round = None
        self._log(epoch, evals_log)
        return False

    def after_training(self, model: Any) -> Any:
        """Log the best round, if early stopping has found one."""
        if self._rounds is not None:
            self._rounds.stop()
        self._rounds = None
        self._log_last()
        if self._is_first:
            self._log_best(model)
        return model

    @guarded
    def _begin(self, model: Any) -> None:
        self._round = None
        settings: dict[str, Any] = {}
        # In each process, because save_config may communicate with all of them.
        if hasattr(model, "save_config"):
            settings = json.loads(model.save_config())["learner"]
        self._is_first = get_rank() == 0
        # Inside a timed loop, rounds are part of its steps. Processes with the same
        # rank would log duplicates.
        is_apart = not self._run.steps.is_looping
        is_own = self._is_first or self._run.rank > 0
        self._rounds = (
            StepClock(self._run.steps, is_waiting=False)
            if is_apart and is_own
            else None
        )
        if settings and self._is_first:
            self._run["params/booster"] = settings.get("gradient_booster", {})
            self._run["params/objective"] = settings.get("objective", {}).get(
                "name", ""
            )

    @guarded
    def _expect(self, epoch: int, evals_log: Any) -> None:
        self._round = epoch, evals_log, _count(evals_log)

    @guarded
    def _log_last(self) -> None:
        # If an earlier callback stops the training after a round, later ones do not
        # receive that round.
        if self._round is None:
            return
        (epoch, evals_log, known), self._round = self._round, None
        if _count(evals_log) > known:
            self._log(epoch, evals_log)

    @guarded
    def _log(self, epoch: int, evals_log: Any) -> None:
        metrics: dict[str, float] = {}
        for data, names in evals_log.items():
            for name, history in names.items():
                last = history[-1]
                if isinstance(last, tuple):
                    metrics[f"{data}/{name}_deviation"] = last[1]
                    last = last[0]
                metrics[f"{data}/{name}"] = last
        if metrics and self._is_first:
            self._run.log(metrics, step=epoch)

    @guarded
    def _log_best(self, model: Any) -> None:
        for name in ("best_iteration", "best_score"):
            try:
                value = getattr(model, name)
            except (AttributeError, TypeError):
                # Only early stopping sets it.
                continue
            self._run[f"best/{name.removeprefix('best_')}"] = value


def _count(evals_log: Any) -> int:
    return sum(
        len(history) for names in evals_log.values() for history in names.values()
    )
