"""Lightning: a logger for metrics, and a callback that times steps and their phases.

from seamark.frameworks.lightning import SeamarkCallback, SeamarkLogger

trainer = Trainer(logger=SeamarkLogger(run), callbacks=[SeamarkCallback()])
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from seamark.frameworks.guarded import guarded
from seamark.frameworks.lightning_package import (
    Callback,
    Logger,
    PassThroughProfiler,
    Trainer,
    rank_zero_experiment,
    rank_zero_only,
)
from seamark.frameworks.lightning_profiler import BACKWARD, StepProfiler
from seamark.frameworks.runs import for_child, run_for
from seamark.frameworks.torch import model_facts, optimizer_facts
from seamark.recording.loader import count_examples, find_batch_size, loader_facts
from seamark.run import Run

_AUTOCAST = {"bf16-mixed": "bfloat16", "16-mixed": "float16"}


class SeamarkLogger(Logger):
    """Logs metrics and hyperparameters, only in the first process.

    The run stays open after `fit`, for `test` or another `fit`; it ends with the
    script, or with `run.finish()`.

    Args:
        run: The run to log to, or its name; by default the open run.
        prefix: A namespace for the metrics.
        save_dir: The folder of Lightning's checkpoints, which go to
            `<project>/<run>` in it; by default the trainer's own folder.
    """

    def __init__(
        self,
        run: Run | str | None = None,
        *,
        prefix: str = "",
        save_dir: str | None = None,
    ) -> None:
        super().__init__()
        self._run = run
        self._prefix = prefix
        self._save_dir = save_dir

    def __getstate__(self) -> dict[str, Any]:
        """Support pickling to a process that Lightning spawns, with the open run."""
        return {**vars(self), "_run": for_child(self._run)}

    @property
    @rank_zero_experiment
    def experiment(self) -> Run:
        """The run; in processes of rank 1 and above a dummy object."""
        return self.run

    @property
    def run(self) -> Run:
        """The run to log to."""
        if not isinstance(self._run, Run):
            # Rank 0 is also the default; the agent may know the rank from the launcher.
            self._run = run_for(self._run, rank=rank_zero_only.rank or None)
        return self._run

    @property
    def name(self) -> str:
        """The project's name, which Lightning uses as a folder of checkpoints."""
        return self.run.project

    @property
    def version(self) -> str:
        """The run's name, which Lightning uses as a folder too."""
        return self.run.name

    @property
    def save_dir(self) -> str | None:
        """The folder of Lightning's checkpoints; None for the trainer's own folder.

        When the trainer reads it for its `log_dir`, this is the run's folder: the
        trainer uses it for third-party loggers, and LightningCLI needs one.
        """
        # A logger has no reference to its trainer, so the caller's frame is inspected.
        asking = sys._getframe(1)  # noqa: SLF001 - documented
        trainer = asking.f_locals.get("self")
        if asking.f_code.co_name != "log_dir" or not isinstance(trainer, Trainer):
            return self._save_dir
        folder: str = self._save_dir or trainer.default_root_dir
        if rank_zero_only.rank:
            # The first process broadcasts it, and the others need no run for it.
            return folder
        return f"{folder}/{self.name}/{self.version}"

    @rank_zero_only
    @guarded
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log one point of each metric."""
        if self._prefix:
            metrics = {f"{self._prefix}/{name}": v for name, v in metrics.items()}
        self.run.log(metrics, step=step)

    @rank_zero_only
    @guarded
    def log_hyperparams(
        self, params: Mapping[str, Any] | Namespace, *_args: Any, **_options: Any
    ) -> None:
        """Log parameters, nested to any depth, under `params/`."""
        values = vars(params) if isinstance(params, Namespace) else params
        if values:
            self.run["params"] = values

    @rank_zero_only
    @guarded
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        """Log the path of the best checkpoint."""
        path = getattr(checkpoint_callback, "best_model_path", "")
        score = getattr(checkpoint_callback, "best_model_score", None)
        if path:
            self.run["checkpoint/best_path"] = path
        if score is not None:
            self.run["checkpoint/best_score"] = score

    def finalize(self, status: str) -> None:
        """Leave the run open for another `fit`; errors end it."""


class SeamarkCallback(Callback):
    """Times steps, data wait and phases, and stores facts about the training setup.

    Runs in every process: those of rank 1 and above have their own series.

    Args:
        run: The run, or its name; by default that of the trainer's SeamarkLogger.
    """

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        self._given = run
        # The run that was open in the parent of this spawned process.
        self._opened: Run | None = None
        self._profiler: StepProfiler | None = None
        self._batch_size: int | None = None
        self._receives_actions = False

    def __getstate__(self) -> dict[str, Any]:
        """Support pickles like the logger, without the timing state."""
        given = self._given
        return {
            **vars(self),
            "_given": None if given is None else for_child(given),
            "_opened": for_child(self._opened),
            "_profiler": None,
        }

    @guarded
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Install a profiler, unless the user has chosen one."""
        if stage != "fit":
            return
        self._profiler = None
        given = self._given
        if given is None:
            if trainer.fast_dev_run:
                # A sanity run (fast_dev_run), in which Lightning calls no loggers.
                return
            loggers = [n for n in trainer.loggers if isinstance(n, SeamarkLogger)]
            given = loggers[0].run if loggers else self._opened
        # When a trainer fits again, its profiler is an earlier one of ours.
        is_free = isinstance(trainer.profiler, (PassThroughProfiler, StepProfiler))
        self._profiler = StepProfiler(run_for(given, rank=trainer.global_rank))
        if is_free:
            trainer.profiler = self._profiler
        self._receives_actions = is_free

    @guarded
    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start timing the loop."""
        if self._profiler is None:
            return
        steps = self._profiler.run.steps
        self._profiler.begin()
        facts = {f"lightning/{k}": v for k, v in _trainer_facts(trainer).items()}
        found = _model_facts(trainer, pl_module)
        facts |= {f"model/{k}": v for k, v in found.items()}
        if trainer.optimizers:
            found = optimizer_facts(trainer.optimizers[0])
            facts |= {f"optimizer/{k}": v for k, v in found.items()}
        facts["torch/autocast"] = _AUTOCAST.get(str(trainer.precision), "off")
        loader = trainer.train_dataloader
        self._batch_size = find_batch_size(loader)
        steps.state_facts(facts | loader_facts(loader))
        steps.look_at_data(loader)

    @guarded
    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Note that training on a batch begins."""
        if self._profiler is not None:
            if not self._receives_actions:
                self._profiler.clock.arrive()
            self._profiler.begin_batch(count_examples(batch, self._batch_size))

    @guarded
    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """With a user's profiler, start the wait for the next batch here."""
        if self._profiler is not None and not self._receives_actions:
            self._profiler.clock.ask()

    @guarded
    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Start the backward phase; manual optimization does not call the profiler."""
        if self._profiler is None or pl_module.automatic_optimization:
            return
        if self._receives_actions:
            self._profiler.start(BACKWARD)

    @guarded
    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        """End the backward phase."""
        if self._profiler is not None:
            self._profiler.stop(BACKWARD)

    @guarded
    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Exclude validation from the steps."""
        if self._profiler is not None:
            self._profiler.clock.stop()

    @guarded
    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """End the last step of an epoch, without a data wait."""
        if self._profiler is not None:
            self._profiler.clock.stop()

    @guarded
    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Stop timing the loop."""
        if self._profiler is not None:
            self._profiler.end()

    @guarded
    def on_exception(
        self, trainer: Any, pl_module: Any, exception: BaseException
    ) -> None:
        """Stop timing the loop; the run fails when the error ends the script."""
        if self._profiler is not None:
            self._profiler.end()


def _model_facts(trainer: Any, pl_module: Any) -> dict[str, object]:
    # Strategies wrap the module, some in unknown classes.
    return model_facts(trainer.strategy.model) | {"class": type(pl_module).__name__}


def _trainer_facts(trainer: Any) -> dict[str, object]:
    return {
        "precision": str(trainer.precision),
        "strategy": type(trainer.strategy).__name__,
        "devices": trainer.num_devices,
        "nodes": trainer.num_nodes,
        "accumulated_batches": trainer.accumulate_grad_batches,
    }
