"""Requirements of Lightning's own logger tests (test_lightning_published.py), and more."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from argparse import Namespace
from contextlib import suppress

import pytest

import agent
from seamark.lifecycle import process_hooks
from tests.slow.frameworks.requiring import framework

torch = framework("torch")
framework("lightning")

from lightning.pytorch import Callback, Trainer  # noqa: E402
from lightning.pytorch.demos.boring_classes import BoringModel  # noqa: E402
from lightning.pytorch.loggers.logger import DummyExperiment  # noqa: E402
from lightning.pytorch.profilers import SimpleProfiler  # noqa: E402
from lightning.pytorch.tuner.tuning import Tuner  # noqa: E402
from lightning.pytorch.utilities import rank_zero_only  # noqa: E402

from seamark.frameworks.lightning import SeamarkCallback, SeamarkLogger  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"


class Logging(BoringModel):
    def training_step(self, batch, batch_idx):
        loss = self.step(batch)
        self.log("train_some_val", loss)
        return {"loss": loss}

    def on_validation_epoch_end(self):
        self.log_dict({"early_stop_on": torch.tensor(1), "val_loss": torch.tensor(0.5)})

    def on_test_epoch_end(self):
        self.log("test_loss", torch.tensor(2.0))


def make_trainer(tmp_path, logger, **options):
    return Trainer(
        **{
            "max_epochs": 1,
            "limit_train_batches": 4,
            "limit_val_batches": 1,
            "log_every_n_steps": 1,
            "enable_progress_bar": False,
            "enable_model_summary": False,
            "accelerator": "cpu",
            "default_root_dir": str(tmp_path),
            "logger": logger,
            **options,
        }
    )


def test_fit_and_test_log_metrics_at_the_trainers_steps(tracker, run, tmp_path):
    trainer = make_trainer(tmp_path, SeamarkLogger(run), limit_train_batches=1)
    trainer.fit(Logging())
    trainer.test(Logging(), verbose=False)
    run.finish()

    for metric, step in {
        "train_some_val": 0,
        "val_loss": 0,
        "early_stop_on": 0,
        "test_loss": 1,
    }.items():
        assert tracker.steps(metric) == [step], metric
    assert tracker.values("val_loss") == [0.5]
    assert tracker.values("epoch") != []


def test_steps_and_their_phases_are_timed(tracker, run, tmp_path):
    callbacks = [SeamarkCallback()]
    make_trainer(tmp_path, SeamarkLogger(run), callbacks=callbacks).fit(Logging())
    run.finish()

    seconds = tracker.values(f"{STEP}/seconds")
    phases = ("copy", "forward", "backward", "optimizer")
    spent = [tracker.values(f"{STEP}/phase/{phase}_seconds") for phase in phases]
    waits = tracker.values(f"{STEP}/data_wait_seconds")
    assert len(seconds) == len(waits) == 4
    for step, parts in enumerate(zip(*spent, waits, strict=True)):
        assert min(parts[:-1]) > 0
        assert sum(parts) <= seconds[step]
    assert waits[-1] < waits[0]
    assert tracker.values(f"{STEP}/examples") == [1, 1, 1, 1]
    assert not tracker.values(f"{STEP}/nested/backward/backward_seconds")


def test_phases_of_manual_optimization_are_timed(tracker, run, tmp_path):
    class Manual(BoringModel):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False

        def training_step(self, batch, batch_idx):
            optimizer = self.optimizers()
            optimizer.zero_grad()
            # An error on the way may be caught, as one of memory is.
            with suppress(RuntimeError):
                self.manual_backward(torch.zeros(1))
            time.sleep(0.1)
            self.manual_backward(self.step(batch))
            optimizer.step()

    callbacks = [SeamarkCallback()]
    make_trainer(tmp_path, SeamarkLogger(run), callbacks=callbacks).fit(Manual())
    run.finish()

    phases = ("copy", "forward", "backward", "optimizer")
    spent = [tracker.values(f"{STEP}/phase/{phase}_seconds") for phase in phases]
    assert [len(seconds) for seconds in spent] == [4] * 4
    for seconds, *parts in zip(tracker.values(f"{STEP}/seconds"), *spent, strict=True):
        assert min(parts) > 0
        assert sum(parts) <= seconds
        # The step without the backward pass is the module's own code.
        assert parts[1] >= 0.1


def test_validation_is_part_of_no_step(tracker, run, tmp_path):
    class Slow(Logging):
        def validation_step(self, batch, batch_idx):
            time.sleep(1)
            return super().validation_step(batch, batch_idx)

    trainer = make_trainer(
        tmp_path,
        SeamarkLogger(run),
        callbacks=[SeamarkCallback()],
        max_epochs=2,
        val_check_interval=2,
    )
    trainer.fit(Slow())
    run.finish()

    seconds = tracker.values(f"{STEP}/seconds")
    assert len(seconds) == 8
    assert max(seconds) < 1


@pytest.mark.parametrize("profiler", [None, SimpleProfiler()])
def test_a_profiler_of_the_users_stays_and_steps_are_timed_without_it(
    tracker, run, tmp_path, profiler
):
    trainer = make_trainer(
        tmp_path, SeamarkLogger(run), callbacks=[SeamarkCallback()], profiler=profiler
    )
    trainer.fit(Logging())
    run.finish()

    assert profiler is None or trainer.profiler is profiler
    assert len(tracker.values(f"{STEP}/data_wait_seconds")) == 4


def test_how_training_is_set_up_is_stated(tracker, run, tmp_path):
    trainer = make_trainer(
        tmp_path,
        SeamarkLogger(run),
        callbacks=[SeamarkCallback()],
        precision="bf16-mixed",
        accumulate_grad_batches=2,
    )
    trainer.fit(Logging())
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/framework"] == "pytorch"
    assert facts[f"{FACTS}/loader_workers"] == 0
    assert facts[f"{FACTS}/lightning/precision"] == "bf16-mixed"
    assert facts[f"{FACTS}/lightning/accumulated_batches"] == 2
    assert facts[f"{FACTS}/torch/autocast"] == "bfloat16"
    assert facts[f"{FACTS}/model/parameters"] == 66
    assert facts[f"{FACTS}/optimizer/class"] == "SGD"


def test_how_a_module_is_compiled_and_updated_is_stated(tracker, run, tmp_path):
    class Updating(BoringModel):
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1, foreach=False)

    trainer = make_trainer(tmp_path, SeamarkLogger(run), callbacks=[SeamarkCallback()])
    trainer.fit(torch.compile(Updating(), backend="eager"))
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/class"] == "Updating"
    assert facts[f"{FACTS}/model/compiled"] is True
    assert facts[f"{FACTS}/model/compile_backend"] == "eager"
    assert facts[f"{FACTS}/optimizer/foreach"] is False


def test_each_batch_of_an_unknown_length_is_a_step(tracker, run, tmp_path):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([torch.randn(32)] * 6)

    trainer = make_trainer(
        tmp_path,
        SeamarkLogger(run),
        callbacks=[SeamarkCallback()],
        limit_train_batches=None,
        max_epochs=3,
    )
    trainer.fit(Logging(), torch.utils.data.DataLoader(Stream(), batch_size=2))
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) == 3 * 3
    assert len(tracker.values(f"{STEP}/data_wait_seconds")) == 3 * 3


@pytest.mark.parametrize(
    "params",
    [
        {"lr": 0.1, "net": {"depth": 2}},
        Namespace(lr=0.1, net=Namespace(depth=2)),
    ],
)
def test_hyperparameters_are_logged_as_they_are_nested(tracker, run, params):
    logger = SeamarkLogger(run)
    logger.log_hyperparams(params)
    logger.log_hyperparams({})
    run.finish()

    assert tracker.attributes()["params/lr"] == 0.1
    assert tracker.attributes()["params/net/depth"] == 2


def test_what_a_module_saves_is_logged(tracker, run, tmp_path):
    class Saving(Logging):
        def __init__(self, width=3, activation=torch.relu):
            super().__init__()
            self.save_hyperparameters()

    make_trainer(tmp_path, SeamarkLogger(run)).fit(Saving())
    run.finish()

    assert tracker.attributes()["params/width"] == 3


def test_the_logger_travels_to_another_process(tracker, run, tmp_path):
    logger = SeamarkLogger(run, save_dir=str(tmp_path))
    logger.log_metrics({"a": 1})
    logger.save()
    trainer = make_trainer(tmp_path, logger, callbacks=[SeamarkCallback()])

    copy = pickle.loads(pickle.dumps(trainer))
    copy.logger.log_metrics({"acc": 1.0})
    run.finish()

    assert copy.logger.name == logger.name == "p"
    assert copy.logger.version == logger.version == "r"
    assert copy.logger.save_dir == str(tmp_path)
    assert tracker.values("acc") == [1.0]


def test_metrics_get_a_namespace(tracker, run):
    SeamarkLogger(run, prefix="tmp").log_metrics({"test": 1.0}, step=0)
    run.finish()

    assert tracker.values("tmp/test") == [1.0]


def test_only_the_first_process_logs(tracker, run, monkeypatch):
    logger = SeamarkLogger(run)
    monkeypatch.setattr(rank_zero_only, "rank", 1)
    logger.log_metrics({"a": 1.0})
    logger.log_hyperparams({"b": 1})
    assert isinstance(logger.experiment, DummyExperiment)
    assert logger.experiment.something(foo="bar") is None

    monkeypatch.setattr(rank_zero_only, "rank", 0)
    assert logger.experiment is run
    run.finish()
    assert tracker.values("a") == []
    assert "params/b" not in tracker.attributes()


class RunIsThere(Callback):
    """Requirements of Lightning's tests for each logger, in each process."""

    def setup(self, trainer, pl_module, stage=None):
        assert isinstance(trainer.logger, SeamarkLogger)

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        is_dummy = isinstance(trainer.logger.experiment, DummyExperiment)
        assert is_dummy == (not trainer.is_global_zero)
        assert trainer.is_global_zero or pl_module.logger.experiment.a(b="c") is None


# In none of them is the run open that is open in their parent.
@pytest.mark.parametrize("given", [None, lambda run: run.name], ids=["open", "named"])
def test_spawned_processes_time_their_own_steps(tracker, run, tmp_path, given):
    trainer = make_trainer(
        tmp_path,
        SeamarkLogger(given and given(run)),
        strategy="ddp_spawn",
        devices=2,
        max_steps=2,
        callbacks=[RunIsThere(), SeamarkCallback()],
    )
    trainer.fit(Logging())
    run.finish()

    assert {(m["run"], m["project"]) for m in tracker.of_kind("open")} == {("r", "p")}
    assert len(tracker.values(f"{STEP}/seconds")) == 2
    assert len(tracker.values("monitoring/train/rank-1/step/seconds")) == 2
    assert tracker.steps("train_some_val") == [0, 1]
    assert tracker.attributes()[f"{FACTS}/distributed/world_size"] == 2


LAUNCHING = """
from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

import agent
from seamark.frameworks.lightning import SeamarkCallback, SeamarkLogger

run = agent.init("r", stage="train", monitor=False)
trainer = Trainer(
    logger=SeamarkLogger(run), callbacks=[SeamarkCallback()], strategy="ddp", devices=2,
    accelerator="cpu", max_steps=2, limit_val_batches=0, log_every_n_steps=1,
    enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
)
trainer.fit(BoringModel())
run.finish()
"""


@pytest.mark.timeout(300)
def test_processes_that_lightning_launches_know_their_ranks(
    run_script, tracker, tmp_path
):
    (tmp_path / "train.py").write_text(LAUNCHING)
    ended = run_script(
        "import runpy, sys; sys.argv = ['train.py']; runpy.run_path('train.py')",
        seconds=250,
    )

    assert ended.returncode == 0, ended.stderr
    assert sorted(message["rank"] for message in tracker.of_kind("open")) == [0, 1]
    assert tracker.steps(f"{STEP}/seconds") == [0, 1]
    assert tracker.steps("monitoring/train/rank-1/step/seconds") == [0, 1]
    wrapper = tracker.attributes()[f"{FACTS}/model/wrapper"]
    assert wrapper == "DistributedDataParallel"


ALONE = """
import sys
from importlib.machinery import PathFinder

class WithoutLightning:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "lightning":
            return PathFinder.find_spec(name, path, target)

sys.meta_path = [WithoutLightning if f is PathFinder else f for f in sys.meta_path]
from seamark.frameworks.lightning import SeamarkCallback, SeamarkLogger
import pytorch_lightning
assert issubclass(SeamarkCallback, pytorch_lightning.Callback)
assert issubclass(SeamarkLogger, pytorch_lightning.loggers.Logger)
"""


def test_imported_first_it_takes_the_package_that_is_installed(run_script):
    framework("pytorch_lightning")
    ended = run_script(ALONE)

    assert ended.returncode == 0, ended.stderr


def test_the_best_checkpoint_is_named(tracker, run, tmp_path):
    logger = SeamarkLogger(run, save_dir=str(tmp_path))
    make_trainer(tmp_path, logger).fit(Logging())
    run.finish()

    path = tracker.attributes()["checkpoint/best_path"]
    assert path.startswith(f"{tmp_path}/p/r/checkpoints/")


@pytest.mark.parametrize("folder", [None, "kept"])
def test_what_a_trainer_writes_lies_in_the_runs_folder(tracker, run, tmp_path, folder):
    logger = SeamarkLogger(run, save_dir=folder and str(tmp_path / folder))
    trainer = make_trainer(tmp_path, logger)
    trainer.fit(Logging())

    runs_folder = tmp_path / (folder or "") / "p" / "r"
    assert trainer.log_dir == str(runs_folder)
    assert trainer.checkpoint_callback.dirpath == str(runs_folder / "checkpoints")
    assert [path.suffix for path in (runs_folder / "checkpoints").iterdir()] == [
        ".ckpt"
    ]


def test_lightnings_command_line_keeps_the_configuration_of_each_run(
    tracker, tmp_path, monkeypatch
):
    framework("jsonargparse")
    from lightning.pytorch.cli import LightningCLI

    class_path = f"{SeamarkLogger.__module__}.{SeamarkLogger.__name__}"
    arguments = [
        f"--trainer.logger={class_path}",
        f"--trainer.default_root_dir={tmp_path}",
        "--trainer.accelerator=cpu",
        "--trainer.max_steps=1",
        "--trainer.limit_val_batches=0",
        "--trainer.enable_progress_bar=false",
        "--trainer.enable_model_summary=false",
    ]
    monkeypatch.setattr(sys, "argv", ["train.py", "fit", *arguments])
    for name in "first", "second":
        run = agent.init(name, project="p", monitor=False)
        LightningCLI(BoringModel)
        run.finish()

    assert (tmp_path / "p" / "first" / "config.yaml").is_file()
    assert (tmp_path / "p" / "second" / "config.yaml").is_file()


def test_a_failure_in_fit_is_the_runs(tracker, run, tmp_path):
    class Failing(Logging):
        def training_step(self, batch, batch_idx):
            raise ZeroDivisionError("by design")

    trainer = make_trainer(tmp_path, SeamarkLogger(run), callbacks=[SeamarkCallback()])
    with pytest.raises(ZeroDivisionError), run:
        trainer.fit(Failing())

    (closed,) = tracker.of_kind("close")
    assert closed["state"] == "failed"
    assert "by design" in closed["failure"]


def test_one_callback_serves_several_trainers(tracker, run, tmp_path):
    callback = SeamarkCallback(run)
    for _ in range(2):
        make_trainer(tmp_path, False, callbacks=[callback]).fit(Logging())
    run.finish()

    assert tracker.steps(f"{STEP}/seconds") == list(range(8))


def test_a_callback_can_be_copied_behind_a_training(tracker, run, tmp_path):
    callback = SeamarkCallback(run)
    trainer = make_trainer(tmp_path, False, callbacks=[callback])
    trainer.fit(Logging())
    copies = copy.deepcopy([callback])
    make_trainer(tmp_path, False, callbacks=copies).fit(Logging())
    run.finish()

    assert tracker.steps(f"{STEP}/seconds") == list(range(8))
    assert copy.deepcopy(trainer.profiler).run is run


def test_a_copy_that_stays_here_means_the_run_that_is_open_then(tracker, run):
    logger, callback = copy.deepcopy((SeamarkLogger(), SeamarkCallback()))
    other = agent.init("other", monitor=False)

    assert logger.run is other
    assert callback._opened is None


def test_a_run_through_all_code_opens_no_run(tracker, tmp_path):
    trainer = make_trainer(
        tmp_path, SeamarkLogger(), callbacks=[SeamarkCallback()], fast_dev_run=True
    )
    trainer.fit(Logging())

    assert process_hooks.open_runs() == []


def test_the_tuner_leaves_the_logger_as_it_is(tracker, run, tmp_path):
    class Tuned(BoringModel):
        def __init__(self, lr=0.1, batch_size=1):
            super().__init__()
            self.save_hyperparameters()

    logger = SeamarkLogger(run)
    trainer = make_trainer(tmp_path, logger, limit_train_batches=None)
    Tuner(trainer).lr_find(Tuned(), num_training=5)

    assert trainer.logger is logger


def test_a_logger_by_name_takes_the_run_that_is_open(run):
    assert SeamarkLogger("r").experiment is run


def test_a_logger_by_name_opens_its_run_when_it_is_first_used(tracker):
    logger = SeamarkLogger("by-name")
    logger.log_metrics({"a": 1.0})

    assert logger.version == "by-name"
    agent.init("by-name").finish()
    assert tracker.values("a") == [1.0]
