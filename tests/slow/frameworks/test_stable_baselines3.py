"""The callback for Stable-Baselines3, with real algorithms on CartPole."""

from __future__ import annotations

import logging
import pickle

import pytest

from tests.slow.frameworks.requiring import framework

torch = framework("torch")
framework("stable_baselines3")

import gymnasium  # noqa: E402
from stable_baselines3 import DQN, PPO  # noqa: E402
from stable_baselines3.common.callbacks import (  # noqa: E402
    BaseCallback,
    EvalCallback,
)
from stable_baselines3.common.logger import (  # noqa: E402
    Figure,
    HParam,
    Image,
    Video,
    configure,
)
from stable_baselines3.common.monitor import Monitor  # noqa: E402

from seamark.frameworks.stable_baselines3 import SeamarkCallback  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"


def make_ppo(**options):
    options = {"n_steps": 64, "n_epochs": 2, "device": "cpu", **options}
    return PPO("MlpPolicy", "CartPole-v1", seed=0, **options)


class Stopping(BaseCallback):
    """Ends the training in its first rollout, or raises an error there."""

    def __init__(self, error=None):
        super().__init__()
        self.error = error

    def _on_step(self):
        if self.error is not None:
            raise self.error
        return False


def test_values_of_the_logger_are_logged_by_timestep(tracker, run):
    make_ppo().learn(192, callback=SeamarkCallback(run))
    run.finish()

    assert tracker.steps("time/fps") == [64, 128, 192]
    assert tracker.steps("rollout/ep_rew_mean") == [64, 128, 192]
    # The losses of the last training, which the logger never writes, have a step too.
    assert tracker.steps("train/loss") == [128, 192, 256]
    # Only the console needs these.
    assert "time/iterations" not in tracker.paths()


def test_an_iteration_is_a_step_with_two_phases(tracker, run):
    make_ppo().learn(192, callback=SeamarkCallback(run))
    run.finish()

    seconds = tracker.values(f"{STEP}/seconds")
    phases = [
        tracker.values(f"{STEP}/phase/{name}_seconds") for name in ("rollout", "train")
    ]
    assert [len(values) for values in (seconds, *phases)] == [3, 3, 3]
    assert sum(map(sum, phases)) == pytest.approx(sum(seconds), rel=0.1)
    assert tracker.values(f"{STEP}/examples") == [64, 64, 64]
    assert tracker.values(f"{STEP}/data_wait_seconds") == []


def test_episodes_are_logged_when_they_end(tracker, run):
    make_ppo().learn(128, callback=SeamarkCallback(run))
    run.finish()

    steps = tracker.steps("rollout/episode_length")
    lengths = tracker.values("rollout/episode_length")
    assert steps[0] == lengths[0]
    assert sum(lengths) == steps[-1] <= 128
    # CartPole gives a reward of 1 for each timestep.
    assert tracker.values("rollout/episode_reward") == lengths


def test_hyperparameters_and_facts_are_logged(tracker, run):
    model = make_ppo(learning_rate=lambda progress: 0.001 * progress, gamma=0.9)
    model.learn(64, callback=SeamarkCallback(run))
    run.finish()

    facts = tracker.attributes()
    assert facts["params/algorithm"] == "PPO"
    assert facts["params/environment"] == "CartPole-v1"
    assert facts["params/learning_rate"] == pytest.approx(0.001)
    assert facts["params/clip_range"] == pytest.approx(0.2)
    assert facts["params/gamma"] == 0.9
    assert facts["params/total_timesteps"] == 64
    assert facts[f"{FACTS}/framework"] == "pytorch"
    assert facts[f"{FACTS}/model/parameters"] == sum(
        each.numel() for each in model.policy.parameters()
    )


def test_an_off_policy_algorithm_and_its_evaluations_are_logged(tracker, run):
    env = Monitor(gymnasium.make("CartPole-v1"))
    evaluating = EvalCallback(env, eval_freq=50, n_eval_episodes=1, verbose=0)
    model = DQN("MlpPolicy", "CartPole-v1", learning_starts=20, device="cpu", seed=0)
    model.learn(100, callback=[SeamarkCallback(run), evaluating])
    run.finish()

    assert tracker.steps("eval/mean_reward") == [50, 100]
    assert tracker.values("train/loss") != []
    facts = tracker.attributes()
    assert facts["params/train_freq/frequency"] == 4
    assert facts["params/train_freq/unit"] == "step"
    assert len(tracker.values(f"{STEP}/seconds")) == 25


def test_figures_images_and_videos_are_media(tracker, run):
    pyplot = framework("matplotlib.pyplot")
    model = make_ppo()
    model.set_logger(configure(None, []))

    class Recording(BaseCallback):
        def _on_step(self):
            return True

        def _on_rollout_end(self):
            record = self.model.logger.record
            record("media/figure", Figure(pyplot.figure(), close=True))
            record("media/image", Image(torch.zeros(3, 8, 8), "CHW"))
            record("media/video", Video(torch.zeros(1, 2, 3, 8, 8), 5))
            record("media/weights", torch.arange(10.0))
            record("media/hparams", HParam({"lr": 0.1}, {"loss": 1.0}))

    model.learn(64, callback=[Recording(), SeamarkCallback(run)])
    run.finish()
    pyplot.close("all")

    kinds = {m["path"]: m["kind"] for m in tracker.of_kind("records")}
    assert kinds == {
        "media/figure": "image",
        "media/image": "image",
        "media/video": "file",
        "media/weights": "histogram",
    }


def test_two_trainings_with_one_logger_are_logged_once_each(tracker, run):
    model = make_ppo()
    model.set_logger(configure(None, []))
    model.learn(64, callback=SeamarkCallback(run))
    model.learn(64, callback=SeamarkCallback(run), reset_num_timesteps=False)
    run.finish()

    assert tracker.steps("time/fps") == [64, 128]
    assert model.logger.output_formats == []


def test_a_training_that_stops_early_ends_its_loop(tracker, run):
    make_ppo().learn(192, callback=[SeamarkCallback(run), Stopping()])

    assert not run.steps.is_looping


def test_a_training_after_an_error_is_timed(tracker, run):
    callback = SeamarkCallback(run)
    with pytest.raises(ZeroDivisionError):
        make_ppo().learn(64, callback=[callback, Stopping(ZeroDivisionError())])
    make_ppo().learn(128, callback=callback)
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) >= 2


def test_a_model_can_be_saved_and_a_callback_pickled(tracker, run, tmp_path):
    class Saving(BaseCallback):
        def _on_step(self):
            return True

        def _on_rollout_end(self):
            self.model.save(tmp_path / "model.zip")

    callback = SeamarkCallback(run)
    make_ppo().learn(64, callback=[callback, Saving()])

    assert PPO.load(tmp_path / "model.zip", device="cpu").n_steps == 64
    assert pickle.loads(pickle.dumps(SeamarkCallback("r")))._given == "r"


def test_an_error_of_the_agent_does_not_stop_the_training(tracker, run, caplog):
    class Broken(SeamarkCallback):
        def _infos(self):
            raise KeyError("infos")

    with caplog.at_level(logging.WARNING):
        model = make_ppo().learn(64, callback=Broken(run))

    assert model.num_timesteps == 64
    assert "_log_episodes failed: KeyError('infos')" in caplog.text
