"""Hugging Face Transformers: a callback for its Trainer.

from seamark.frameworks.transformers import SeamarkCallback

trainer = Trainer(model, args, train_dataset=data, callbacks=[SeamarkCallback(run)])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback

from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_beside, run_for
from seamark.frameworks.torch import DDP, is_spread, model_facts, optimizer_facts
from seamark.lifecycle import process_hooks
from seamark.recording.loader import loader_facts
from seamark.recording.phases import Phase
from seamark.recording.steps import StepClock
from seamark.run import Run


class SeamarkCallback(TrainerCallback):
    """Logs metrics and arguments, and times optimizer steps.

    Each process times its own steps; only the first logs metrics. Logging, evaluation
    and saving between two steps count to the earlier step, not to the data wait. Each
    trial of `hyperparameter_search` has its own run, `<run>-trial-0` and so on, with
    the tag `trial`.

    Args:
        run: The run to log to, or its name; by default the open run, or a new one
            named by the arguments.
    """

    def __init__(self, run: Run | str | None = None) -> None:
        self._given = run
        self._run: Run | None = None
        self._clock: StepClock | None = None
        self._examples: int | None = None
        self._optimizer_phase: Phase | None = None
        # The arguments of the current training, None after success; the first steps of
        # its series.
        self._training: Any = None
        self._first_steps: dict[str, float] = {}
        self._trials = 0
        self._is_trial = False
        self._is_evaluated = False

    def __getstate__(self) -> dict[str, Any]:
        """Support pickling, without the timing state."""
        apart = ("_clock", "_optimizer_phase", "_training")
        return {**vars(self), **dict.fromkeys(apart)}

    @guarded
    def on_train_begin(
        self, args: Any, state: Any, control: Any, **context: Any
    ) -> None:
        """Start timing the loop, and log the arguments and the model's config."""
        # An earlier loop may have ended by an error, which callbacks do not see.
        self._end_loop()
        if self._is_begun_again(args):
            # The batch size was too large: the Trainer repeats the training.
            self._run_of(args).log_again(self._first_steps)
        else:
            self._end_trial()
            # The run of an earlier training may be finished.
            self._run = None
            if state.trial_params is not None:
                self._begin_trial(args)
        self._training, self._first_steps = args, {}
        self._is_evaluated = False
        run = self._run_of(args)
        if state.is_world_process_zero:
            run["params"] = args.to_sanitized_dict()
            config: Any = getattr(context.get("model"), "config", None)
            if hasattr(config, "to_dict"):
                run["params/model"] = config.to_dict()
        is_timed = run.steps.begin("transformers")
        self._clock = StepClock(run.steps) if is_timed else None
        self._examples = _batch_size(args, state) * args.gradient_accumulation_steps
        run.steps.state_facts(_facts(args, context))
        run.steps.look_at_data(context.get("train_dataloader"))

    @guarded
    def on_step_begin(
        self, args: Any, state: Any, control: Any, **context: Any
    ) -> None:
        """Note that the mini-batches of a step have arrived."""
        if self._clock is not None:
            self._clock.arrive()
            self._clock.examples = self._examples

    @guarded
    def on_pre_optimizer_step(
        self, args: Any, state: Any, control: Any, **context: Any
    ) -> None:
        """Start the optimizer phase: gradients are complete."""
        if self._clock is not None and self._run is not None:
            self._optimizer_phase = self._run.phase("optimizer")
            self._optimizer_phase.__enter__()

    @guarded
    def on_optimizer_step(
        self, args: Any, state: Any, control: Any, **context: Any
    ) -> None:
        """End the optimizer phase."""
        phase, self._optimizer_phase = self._optimizer_phase, None
        if phase is not None:
            phase.__exit__(None, None, None)

    @guarded
    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Start the wait for the next mini-batches, unless another callback follows."""
        self._ask()

    @guarded
    def on_save(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Count a saved checkpoint to the step."""
        self._ask()

    @guarded
    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Any = None, **context: Any
    ) -> None:
        """Count an evaluation to the step; `on_log` receives its metrics."""
        self._ask()
        self._is_evaluated = True
        if self._training is None:
            self._end_trial()

    @guarded
    def on_predict(
        self, args: Any, state: Any, control: Any, metrics: Any = None, **context: Any
    ) -> None:
        """Log the metrics of `predict`, which `on_log` does not receive."""
        if state.is_world_process_zero and metrics:
            named = {_path(name): value for name, value in metrics.items()}
            self._run_of(args).log(named, step=state.global_step)
        self._ask()

    @guarded
    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> None:
        """Log metrics: `loss` as `train/loss`, `eval_loss` as `eval/loss`."""
        if state.is_world_process_zero and logs:
            run = self._run_of(args)
            metrics: dict[str, Any] = {}
            # Only the final report of a training has this value.
            is_report = "total_flos" in logs
            for name, value in logs.items():
                if is_report and name.startswith("train_"):
                    run[f"train/summary/{name.removeprefix('train_')}"] = value
                else:
                    metrics[_path(name)] = value
            if metrics:
                run.log(metrics, step=state.global_step)
            for path in metrics:
                self._first_steps.setdefault(path, state.global_step)
        self._ask()

    @guarded
    def on_epoch_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """End the last step of an epoch, without a data wait."""
        if self._clock is not None:
            self._clock.stop()

    @guarded
    def on_train_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Stop timing the loop; the run stays open until the script ends."""
        if self._clock is not None:
            self._clock.stop()
        self._end_loop()
        self._training = None
        # A trial without an evaluation evaluates now.
        if self._is_evaluated:
            self._end_trial()

    def _end_loop(self) -> None:
        if self._clock is not None and self._run is not None:
            self._run.steps.end()
        self._clock = None

    def _is_begun_again(self, args: Any) -> bool:
        """Return whether the Trainer restarts with a smaller batch size."""
        is_open = self._run is not None and self._run in process_hooks.open_runs()
        return is_open and args.auto_find_batch_size and self._training is args

    def _begin_trial(self, args: Any) -> None:
        search = self._run_of(args)
        self._run = run_beside(search, f"{search.name}-trial-{self._trials}")
        self._run.add_tags("trial")
        self._trials += 1
        self._is_trial = True

    def _end_trial(self) -> None:
        if self._is_trial and self._run is not None:
            self._run.finish()
            self._run = None
        self._is_trial = False

    def _run_of(self, args: Any) -> Run:
        if self._run is None:
            name = getattr(args, "run_name", None)
            self._run = run_for(self._given, rank=args.process_index, name=name)
        return self._run

    def _ask(self) -> None:
        if self._clock is not None:
            self._clock.ask()


def _batch_size(args: Any, state: Any) -> int:
    """Return the number of examples per mini-batch of this process, on all its GPUs."""
    # With auto_find_batch_size the Trainer may have reduced the size. Otherwise its
    # state may have the size of the training that it resumes.
    found = state.train_batch_size if args.auto_find_batch_size else None
    return int(found or args.train_batch_size)


def _facts(args: Any, context: Mapping[str, Any]) -> dict[str, object]:
    facts = loader_facts(context.get("train_dataloader"))
    model, optimizer = context.get("model"), context.get("optimizer")
    if model is not None:
        found = _model_facts(args, model)
        facts |= {f"model/{name}": value for name, value in found.items()}
    if optimizer is not None:
        found = optimizer_facts(optimizer)
        facts |= {f"optimizer/{name}": value for name, value in found.items()}
    types = {"bf16": "bfloat16", "fp16": "float16"}
    chosen = [name for flag, name in types.items() if getattr(args, flag, False)]
    facts["torch/autocast"] = chosen[0] if chosen else "off"
    facts["transformers/accumulated_batches"] = args.gradient_accumulation_steps
    facts["transformers/gradient_checkpointing"] = args.gradient_checkpointing
    facts["transformers/torch_compile"] = args.torch_compile
    return facts


def _model_facts(args: Any, model: Any) -> dict[str, object]:
    """Return facts about the model and its wrappers, which callbacks do not receive."""
    facts = model_facts(model)
    if args.torch_compile:
        facts["compiled"] = True
        facts["compile_backend"] = args.torch_compile_backend
        facts["compile_mode"] = args.torch_compile_mode or "default"
    wrapper = _wrapper(args)
    if wrapper is not None and not is_spread(model):
        facts.setdefault("wrapper", wrapper)
        if wrapper == DDP:
            facts |= _ddp_facts(args)
    return facts


def _ddp_facts(args: Any) -> dict[str, object]:
    """Return DDP options in the arguments; Accelerate chooses the others."""
    facts: dict[str, object] = {
        name: getattr(args, name, None)
        for name in ("ddp_static_graph", "ddp_find_unused_parameters")
    }
    bucket = getattr(args, "ddp_bucket_cap_mb", None)
    facts["ddp_bucket_bytes"] = None if bucket is None else bucket * 2**20
    return {name: value for name, value in facts.items() if value is not None}


def _wrapper(args: Any) -> str | None:
    if args.parallel_mode.value == "not_distributed":
        return "DataParallel"
    kind = getattr(getattr(args, "distributed_state", None), "distributed_type", "")
    if kind == "DEEPSPEED":
        return "DeepSpeedEngine"
    if kind.startswith("MULTI_") and args.world_size > 1:
        return DDP
    return None


def _path(name: str) -> str:
    for beginning in ("eval", "test", "predict"):
        if name.startswith(f"{beginning}_"):
            return f"{beginning}/{name[len(beginning) + 1 :]}"
    return f"train/{name}"
