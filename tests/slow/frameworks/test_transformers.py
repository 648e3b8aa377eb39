from __future__ import annotations

import copy
from contextlib import nullcontext

import pytest

import agent
from seamark.lifecycle import process_hooks
from tests.slow.frameworks.requiring import framework

torch = framework("torch")
transformers = framework("transformers")

from seamark.frameworks.transformers import SeamarkCallback  # noqa: E402
from tests.agent.tracker_double import doubles  # noqa: E402
from tests.slow.frameworks.test_torchrun import LAUNCH  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        tokens = torch.randint(0, 50, (8,))
        return {"input_ids": tokens, "labels": tokens}


def make_model():
    config = transformers.GPT2Config(
        vocab_size=50, n_positions=8, n_embd=8, n_layer=1, n_head=1
    )
    return transformers.GPT2LMHeadModel(config)


def make_trainer(
    tmp_path, callback, *, is_search=False, kind=transformers.Trainer, **options
):
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        **{
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 2,
            "num_train_epochs": 2,
            "logging_steps": 2,
            "eval_strategy": "epoch",
            "save_strategy": "no",
            "report_to": [],
            "use_cpu": True,
            "disable_tqdm": True,
            **options,
        },
    )
    return kind(
        model=None if is_search else make_model(),
        model_init=make_model if is_search else None,
        args=arguments,
        train_dataset=Texts(),
        eval_dataset=Texts(),
        callbacks=[callback],
    )


def test_metrics_are_logged_at_the_trainers_steps(tracker, run, tmp_path):
    make_trainer(tmp_path, SeamarkCallback(run)).train()
    run.finish()

    assert tracker.steps("train/loss") == [2, 4, 6, 8, 10, 12, 14, 16]
    assert tracker.steps("eval/loss") == [8, 16]
    assert tracker.attributes()["train/summary/runtime"] > 0


def test_what_is_told_of_training_at_each_step_is_a_series(tracker, run, tmp_path):
    trainer = make_trainer(
        tmp_path, SeamarkCallback(run), include_num_input_tokens_seen="all"
    )
    trainer.train()
    trainer.evaluate(trainer.train_dataset, metric_key_prefix="train")
    trainer.log({"train_acc": 0.5})
    run.finish()

    facts = tracker.attributes()
    runtimes = tracker.values("train/train_runtime")
    # These are the Trainer's and the evaluation's own metrics.
    assert tracker.steps("train/train_runtime") == [2, 4, 6, 8, 10, 12, 14, 16, 16]
    assert tracker.steps("train/train_acc") == [16]
    assert tracker.steps("train/train_loss") == [16]
    assert facts["train/summary/runtime"] >= runtimes[-2]
    assert "train/summary/acc" not in facts


def test_updates_are_timed_as_steps(tracker, run, tmp_path):
    make_trainer(tmp_path, SeamarkCallback(run)).train()
    run.finish()

    seconds = tracker.values(f"{STEP}/seconds")
    waits = tracker.values(f"{STEP}/data_wait_seconds")
    assert len(seconds) == len(waits) == 16
    assert all(wait < whole for wait, whole in zip(waits, seconds, strict=True))
    assert set(tracker.values(f"{STEP}/examples")) == {4}
    assert min(tracker.values(f"{STEP}/phase/optimizer_seconds")) > 0


def test_a_trainer_that_names_its_passes_has_them_timed(tracker, run, tmp_path):
    # As the how-to has it.
    class Timed(transformers.Trainer):
        def training_step(self, *given, **named):
            with run.phase("backward"):
                return super().training_step(*given, **named)

        def compute_loss(self, model, *given, **named):
            with run.phase("forward") if model.training else nullcontext():
                return super().compute_loss(model, *given, **named)

    make_trainer(tmp_path, SeamarkCallback(run), kind=Timed).train()
    run.finish()

    seconds = tracker.values(f"{STEP}/seconds")
    passes = [
        tracker.values(f"{STEP}/phase/{name}_seconds")
        for name in ("forward", "backward", "optimizer")
    ]
    assert [len(times) for times in passes] == [16, 16, 16]
    assert all(min(times) > 0 for times in passes)
    sums = [sum(parts) for parts in zip(*passes, strict=True)]
    assert all(part < whole for part, whole in zip(sums, seconds, strict=True))


def test_what_a_prediction_comes_to_is_logged(tracker, run, tmp_path):
    trainer = make_trainer(tmp_path, SeamarkCallback(run), num_train_epochs=1)
    trainer.train()
    found = trainer.predict(Texts()).metrics
    run.finish()

    assert tracker.steps("test/loss") == [8]
    assert tracker.values("test/loss") == [found["test_loss"]]


def test_a_slow_loader_is_seen_as_a_wait(tracker, run, tmp_path):
    trainer = make_trainer(tmp_path, SeamarkCallback(run), num_train_epochs=1)
    trainer.train_dataset = Slow()
    trainer.train()
    run.finish()

    waits = tracker.values(f"{STEP}/data_wait_seconds")
    # The loader is a mini-batch ahead, so that some updates wait for fewer.
    assert sorted(waits)[len(waits) // 2] >= 4 * 0.01


class Slow(Texts):
    def __getitem__(self, index):
        import time

        time.sleep(0.01)
        return super().__getitem__(index)


def test_how_training_is_set_up_is_stated(tracker, run, tmp_path):
    make_trainer(tmp_path, SeamarkCallback(run), bf16=True).train()
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/framework"] == "pytorch"
    assert facts[f"{FACTS}/batch_size"] == 2
    assert facts[f"{FACTS}/loader_workers"] == 0
    assert facts[f"{FACTS}/torch/autocast"] == "bfloat16"
    assert facts[f"{FACTS}/transformers/accumulated_batches"] == 2
    assert facts[f"{FACTS}/model/class"] == "GPT2LMHeadModel"
    assert facts["params/learning_rate"] == 5e-5
    assert facts["params/model/n_layer"] == 1


def test_what_the_trainer_puts_around_the_model_is_stated(tracker, run, tmp_path):
    trainer = make_trainer(
        tmp_path,
        SeamarkCallback(run),
        max_steps=1,
        torch_compile=True,
        torch_compile_backend="eager",
        optim="adamw_torch_fused",
    )
    trainer.train()
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/class"] == "GPT2LMHeadModel"
    assert facts[f"{FACTS}/model/compiled"] is True
    assert facts[f"{FACTS}/model/compile_backend"] == "eager"
    assert facts[f"{FACTS}/optimizer/fused"] is True
    assert f"{FACTS}/model/wrapper" not in facts


SPREAD = """
import agent
from seamark.frameworks.transformers import SeamarkCallback
from tests.slow.frameworks.test_transformers import make_trainer

run = agent.init("r", project="p", stage="train", monitor=False)
options = {"ddp_bucket_cap_mb": 3, "ddp_find_unused_parameters": False}
make_trainer(".", SeamarkCallback(run), max_steps=1, **options).train()
run.finish()
"""


@pytest.mark.timeout(300)
def test_models_that_several_processes_train_are_wrapped(tracker, run_script, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SPREAD)

    done = run_script(LAUNCH.format(ranks=2, script=script), seconds=240)

    assert done.returncode == 0, done.stderr
    for below in "", "/rank-1":
        model = f"monitoring/train{below}/facts/model"
        facts = tracker.attributes()
        assert facts[f"{model}/wrapper"] == "DistributedDataParallel"
        assert facts[f"{model}/ddp_bucket_bytes"] == 3 * 2**20
        assert facts[f"{model}/ddp_find_unused_parameters"] is False
        # Not set here.
        assert f"{model}/ddp_static_graph" not in facts


def test_without_a_run_one_is_opened_with_the_name_of_the_arguments(tracker, tmp_path):
    make_trainer(
        tmp_path, SeamarkCallback(), run_name="named", num_train_epochs=1
    ).train()
    agent.init("named").finish()

    assert tracker.of_kind("open")[0]["run"] == "named"
    assert tracker.values("train/loss") != []


def test_after_a_failure_the_next_training_is_timed_again(tracker, run, tmp_path):
    callback = SeamarkCallback(run)
    failing = make_trainer(tmp_path, callback)
    failing.train_dataset = None
    failing.get_train_dataloader = lambda: iter(())
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it makes of this
        failing.train()

    make_trainer(tmp_path, callback, num_train_epochs=1).train()
    run.finish()
    assert len(tracker.values(f"{STEP}/seconds")) == 8


class Failing(transformers.TrainerCallback):
    """Fails once, behind so many steps."""

    def __init__(self, error, steps=0):
        self.error, self.steps = error, steps

    def on_step_begin(self, args, state, control, **context):
        if self.error is not None and state.global_step >= self.steps:
            error, self.error = self.error, None
            raise error


def test_after_an_interruption_another_callback_times_the_next_training(
    tracker, run, tmp_path
):
    callback = SeamarkCallback(run)
    interrupted = make_trainer(tmp_path, callback)
    interrupted.add_callback(Failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        interrupted.train()
    assert copy.deepcopy(callback)._run is run

    make_trainer(tmp_path, SeamarkCallback(run), num_train_epochs=1).train()
    run.finish()
    assert len(tracker.values(f"{STEP}/seconds")) == 8


def test_a_training_behind_a_finished_run_has_a_run_of_its_own(tracker, tmp_path):
    callback = SeamarkCallback()
    for name in "first", "second":
        make_trainer(tmp_path, callback, run_name=name, num_train_epochs=1).train()
        agent.init(name).finish()

    assert [message["run"] for message in tracker.of_kind("open")] == [
        "first",
        "second",
    ]
    assert tracker.steps("train/loss") == [2, 4, 6, 8] * 2


def test_examples_are_those_of_the_batches_that_fit(tracker, run, tmp_path):
    trainer = make_trainer(
        tmp_path,
        SeamarkCallback(run),
        auto_find_batch_size=True,
        per_device_train_batch_size=16,
        num_train_epochs=1,
    )
    trainer.add_callback(Failing(RuntimeError("CUDA out of memory.")))
    trainer.train()
    run.finish()

    assert trainer._train_batch_size < 16
    assert set(tracker.values(f"{STEP}/examples")) == {2 * trainer._train_batch_size}


def test_what_is_trained_anew_with_smaller_batches_is_logged_once(
    tracker, run, tmp_path
):
    trainer = make_trainer(
        tmp_path,
        SeamarkCallback(run),
        auto_find_batch_size=True,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=1,
        logging_steps=1,
    )
    trainer.add_callback(Failing(RuntimeError("CUDA out of memory."), steps=3))
    trainer.train()
    run.finish()

    # The writer may have split it into several messages.
    rewinds = tracker.of_kind("rewind")
    first = {}
    for again in rewinds:
        first |= dict(zip(again["paths"], doubles(again["steps"]), strict=True))
    (since,) = {again["time"] for again in rewinds}
    points = zip(tracker.steps("train/loss"), tracker.times("train/loss"), strict=True)
    counted = [step for step, time in points if time >= since]
    assert first["train/loss"] == 1
    # Evaluated at the end of an epoch, of two steps.
    assert first["eval/loss"] == 2
    assert tracker.steps("train/loss")[:4] == [1, 2, 3, 1]
    assert counted == list(range(1, trainer.state.global_step + 1))


@pytest.mark.parametrize("evaluates", ["epoch", "no"])
def test_each_trial_of_a_search_has_a_run_beside_the_one_that_is_meant(
    tracker, run, tmp_path, evaluates
):
    framework("optuna")
    trainer = make_trainer(
        tmp_path,
        SeamarkCallback(run),
        is_search=True,
        num_train_epochs=1,
        eval_strategy=evaluates,
    )
    trainer.hyperparameter_search(
        lambda trial: {"learning_rate": trial.suggest_float("lr", 1e-5, 1e-3)},
        n_trials=2,
        backend="optuna",
    )

    # The trial's run is finished when the search continues.
    assert process_hooks.open_runs() == [run]
    run.finish()
    opened = [message["run"] for message in tracker.of_kind("open")]
    assert sorted(opened) == ["r", "r-trial-0", "r-trial-1"]
    assert tracker.steps("train/loss") == [2, 4, 6, 8] * 2
    assert tracker.steps("eval/loss") == [8] * 2
