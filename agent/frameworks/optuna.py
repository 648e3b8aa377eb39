"""Optuna: a callback that logs a study's trials, and runs for single trials.

    from seamark.frameworks.optuna import SeamarkCallback, trial_run

    study.optimize(objective, n_trials=100, callbacks=[SeamarkCallback(run)])

A study is one run: its trials are points of series. Where each trial trains for long,
give each a separate run:

    def objective(trial):
        with trial_run(trial) as run:
            ...
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from optuna.exceptions import TrialPruned
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

import seamark
from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_for
from seamark.recording.run_names import random_text, readable_name
from seamark.run import Run

# User attribute of an in-memory study that makes the names of its trials' runs unique.
_MARK = "seamark"
# Trials run in several threads.
_marking = threading.Lock()


class SeamarkCallback:
    """Logs values, parameters and duration of each trial, by its number.

    Args:
        run: The run to log to, or its name; by default the open run.
        namespace: The path prefix of the series.
    """

    def __init__(
        self, run: Run | str | None = None, *, namespace: str = "trials"
    ) -> None:
        self._run = run_for(run)
        self._namespace = namespace
        # The study and its best trial, and the names of all parameters of its trials.
        self._absent: tuple[tuple[str, int] | None, dict[str, None]] = None, {}

    # Any: the interface of a study and a trial differs between versions.
    @guarded
    def __call__(self, study: Any, trial: Any) -> None:
        """Log a finished trial with any result."""
        points: dict[str, object] = {
            "is_complete": trial.state == TrialState.COMPLETE,
            "is_pruned": trial.state == TrialState.PRUNED,
        }
        points |= _values(study, trial)
        if trial.duration is not None:
            points["seconds"] = trial.duration.total_seconds()
        for name, value in trial.params.items():
            # A categorical text is not a number; the trial's own record has it.
            if isinstance(value, (int, float)):
                points[f"params/{name}"] = value
        named = {f"{self._namespace}/{name}": v for name, v in points.items()}
        self._run.log(named, step=trial.number)
        self._log_best(study)

    def _log_best(self, study: Any) -> None:
        self._run["study/name"] = study.study_name
        self._run["study/directions"] = [d.name.lower() for d in study.directions]
        if len(study.directions) > 1:
            return
        try:
            best = study.best_trial
        except ValueError:
            # No trial is complete yet.
            return
        best_known, unset = self._absent
        if best_known != (study.study_name, best.number):
            complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            # Clears parameters of an earlier best trial that this one does not have.
            unset = dict.fromkeys(name for one in complete for name in one.params)
            self._absent = (study.study_name, best.number), unset
        self._run["study/best"] = {
            "trial": best.number,
            "value": best.value,
            "params": {**unset, **best.params},
        }


@contextmanager
def trial_run(trial: Any, **options: Any) -> Iterator[Run]:
    """Open a run for one trial, and finish it with the trial's parameters.

    A pruned trial does not fail its run; the run gets the tag `pruned`.

    Args:
        trial: The trial passed to the objective.
        options: As for `agent.init`; by default the run is named after study and
            trial, or randomly for trials without a study, such as frozen and fixed ones.
    """
    facts = _facts(trial)
    if "run" not in options:
        options["run"] = _name(trial)
    run = seamark.init(**options)
    run.add_tags("trial")
    pruned = None
    with run:
        try:
            yield run
        except TrialPruned as error:
            run.add_tags("pruned")
            pruned = error
        finally:
            if trial.params:
                run["params"] = dict(trial.params)
            run["study"] = facts
    if pruned is not None:
        raise pruned


def _facts(trial: Any) -> dict[str, object]:
    study = getattr(trial, "study", None)
    named = {} if study is None else {"name": study.study_name}
    return {**named, "trial": trial.number}


def _name(trial: Any) -> str:
    study = getattr(trial, "study", None)
    if study is None:
        # With its number alone it would join the run of another study's trial.
        return readable_name()
    storage = getattr(trial, "storage", None)
    mark = f"-{_mark(study)}" if isinstance(storage, InMemoryStorage) else ""
    return f"{study.study_name}{mark}-{trial.number}"


def _mark(study: Any) -> str:
    """Return a mark that distinguishes studies of one name; equal for all trials of
    one.

    An in-memory study starts again with trial 0 in each execution of the script.
    """
    with _marking:
        mark = study.user_attrs.get(_MARK)
        if mark is None:
            mark = random_text()
            study.set_user_attr(_MARK, mark)
    return str(mark)


def _values(study: Any, trial: Any) -> dict[str, object]:
    if not trial.values:
        return {}
    if len(trial.values) == 1:
        return {"value": trial.values[0]}
    names = study.metric_names or [str(n) for n in range(len(trial.values))]
    return {
        f"value/{name}": value for name, value in zip(names, trial.values, strict=True)
    }
