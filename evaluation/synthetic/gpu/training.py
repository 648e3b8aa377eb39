"""How the GPU jobs train: a step, a loop with the agent, and sizes that fit the card."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import agent
from evaluation.synthetic.gpu.data import Batch
from seamark.frameworks.torch import describe

PROJECT = "corpus"
LOG_STEPS = 100
_WARM_UP, _TIMED = 3, 4

# Opens a phase: one of the run, or an untimed one.
Phase = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Setting:
    """Parameters of a job; `seconds` is the time of its loop."""

    name: str
    device: torch.device
    seconds: float
    folder: Path

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def size(self, on_gpu: int, tiny: int) -> int:
        return on_gpu if self.on_gpu else tiny

    def tell(self, text: str) -> None:
        print(f"{self.name}: {text}", flush=True)

    def total_bytes(self) -> int:
        """Return the GPU's memory, as far as this process may have of it."""
        free, _ = torch.cuda.mem_get_info()
        return free + torch.cuda.memory_reserved()


def unseen(_: str) -> AbstractContextManager[None]:
    """A phase without timing."""
    return nullcontext()


@dataclass
class Work:
    """A model, and how a step trains it.

    `before_update` comes between the backward pass and the optimizer.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss_of: Callable[..., Tensor]
    device: torch.device
    autocast: torch.dtype | None = torch.bfloat16
    scaler: Any = None
    before_update: Callable[[Phase, Tensor], None] = field(default=lambda *_: None)

    def step(self, phase: Phase, batch: Sequence[Tensor]) -> Tensor:
        if batch[0].device.type != self.device.type:
            with phase("copy"):
                batch = [part.to(self.device, non_blocking=True) for part in batch]
        with self._casting(), phase("forward"):
            loss = self.loss_of(self.model, *batch)
        with phase("backward"):
            (loss if self.scaler is None else self.scaler.scale(loss)).backward()
        self.before_update(phase, loss)
        with phase("optimizer"):
            if self.scaler is None:
                self.optimizer.step()
            else:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def _casting(self) -> AbstractContextManager[Any]:
        if self.autocast is None:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.autocast)


def train(
    setting: Setting,
    work: Work,
    loader: Iterable[Batch],
    between: Callable[[agent.Run, int], None] | None = None,
) -> None:
    """Train until the time is over; `between` is called after each epoch."""
    with agent.init(setting.name, project=PROJECT, stage="train", capture=False) as run:
        describe(run, model=work.model, optimizer=work.optimizer, scaler=work.scaler)
        until = time.monotonic() + setting.seconds
        steps = epochs = 0
        while time.monotonic() < until:
            for batch in run.loader(loader):
                loss = work.step(run.phase, batch)
                steps += 1
                if steps % LOG_STEPS == 0:
                    with run.phase("log"):
                        run["train/loss"].append(loss.item())
                if time.monotonic() >= until:
                    break
            else:
                epochs += 1
                if between is not None:
                    between(run, epochs)
        wait_for_device(work.device)
    setting.tell(f"{steps} steps")


def wait_for_device(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one step: until it is done, and until all of it is launched."""

    step: float
    launch: float

    def __str__(self) -> str:
        return (
            f"{1000 * self.step:.1f} ms a step,"
            f" of which {1000 * self.launch:.1f} ms are for launching it"
        )


def timed(work: Work, batch: Batch) -> Timing:
    """Return the duration of a step after warm-up."""
    for _ in range(_WARM_UP):
        work.step(unseen, batch)
    wait_for_device(work.device)
    began = time.perf_counter()
    work.step(unseen, batch)
    launched = time.perf_counter()
    for _ in range(_TIMED - 1):
        work.step(unseen, batch)
    wait_for_device(work.device)
    return Timing((time.perf_counter() - began) / _TIMED, launched - began)


# Makes a work of a size, and a batch to try it with.
Make = Callable[[int], tuple[Work, Batch]]


def fitted(
    setting: Setting, make: Make, *, seconds: float, sizes: tuple[int, int], most: int
) -> tuple[Work, Batch]:
    """Return work of the size at which a step takes the given time on this card.

    Two `sizes` are measured, and a step's time is modeled as a constant plus a term
    linear in the size. So both sizes must be large enough not to be launch-bound.
    """
    if not setting.on_gpu:
        seconds, sizes, most = 0.01, (2, 4), 4
    smaller, larger = (timed(*make(size)).step for size in sizes)
    of_each = max((larger - smaller) / (sizes[1] - sizes[0]), 1e-6)
    wanted = round(sizes[0] + (seconds - smaller) / of_each)
    size = max(sizes[0], min(most, wanted))
    free_memory(setting)
    work, batch = make(size)
    setting.tell(f"size {size} of at most {most}: {timed(work, batch)}")
    free_memory(setting)
    return work, batch


def peak_bytes(setting: Setting, work: Work, batch: Batch) -> int:
    """Return the most memory that a step's tensors take; 0 without a GPU."""
    if not setting.on_gpu:
        return 0
    free_memory(setting)
    # Twice: the optimizer makes its state in the first.
    for _ in range(2):
        work.step(unseen, batch)
    return torch.cuda.max_memory_allocated()


def free_memory(setting: Setting) -> None:
    """Free the memory of trials, and reset the allocator's statistics."""
    if setting.on_gpu:
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.reset_accumulated_memory_stats()
