"""Measures the cost of PyTorch hooks.

    python -m benchmarks.frameworks [--device cuda]

Needs PyTorch, for example in `.venv-frameworks`. Loops of the same model over the same
data alternate within a round: bare, and with an increasing number of our features. A
loop's figure is the median of its steps; ratios are computed per round, and reported as
median and quartiles. The CPU time of the training thread confirms them where other
programs disturb the clock. Offline, and without hardware metrics, which `python -m
benchmarks.agent` measures.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

import torch
from torch.utils.data import DataLoader, TensorDataset

import agent

BATCH = 32
ROUNDS = 40
# Hidden units: a step that hardly computes, and ones that do.
WIDTHS = (64, 512, 1024)
STEPS = {64: 300, 512: 80, 1024: 40}
WARM_UP_STEPS = 5

# Seconds of each step, and of each the processor time.
Times = tuple[list[float], list[float]]
Phase = Callable[[str], contextlib.AbstractContextManager[object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(SEAMARK_SPOOL=folder, SEAMARK_MODE="offline")
        run = agent.init("benchmark", stage="train", monitor=False)
        print(f"PyTorch {torch.__version__} on {options.device}")
        for width in WIDTHS:
            measure(run, width, options.device, options.rounds)
        run.finish(timeout=0)


def measure(run: agent.Run, width: int, device: str, rounds: int) -> None:
    loop = Loop(width, device)
    kinds: dict[str, Callable[[], Times]] = {
        "bare": loop.bare,
        "loader": lambda: loop.watched(run, _no_phase),
        "loader, 3 phases": lambda: loop.watched(run, run.phase),
        "loader, 3 phases, a metric": lambda: loop.watched(
            run, run.phase, log=run["train/constant"].append
        ),
    }
    wall: dict[str, list[float]] = {name: [] for name in kinds}
    cpu: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds):
        # The order alternates between rounds.
        order = list(kinds) if number % 2 else list(reversed(kinds))
        for name in order:
            seconds, cpu_seconds = kinds[name]()
            wall[name].append(statistics.median(seconds[WARM_UP_STEPS:]))
            cpu[name].append(statistics.median(cpu_seconds[WARM_UP_STEPS:]))
    step = statistics.median(wall["bare"]) * 1e6
    print(f"\n{width} hidden units, a step of {step:,.0f} µs")
    for name in kinds:
        if name != "bare":
            print(
                f"  {name:27} {compared(wall[name], wall['bare'])};"
                f" processor {compared(cpu[name], cpu['bare'])}"
            )


def compared(ours: list[float], bare: list[float]) -> str:
    pairs = list(zip(ours, bare, strict=True))
    ratios = [our / their for our, their in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    added = statistics.median(our - their for our, their in pairs) * 1e6
    return f"× {middle:.3f} ({low:.3f}–{high:.3f}), {added:+.1f} µs"


class Loop:
    """The same training, with and without us."""

    def __init__(self, width: int, device: str) -> None:
        torch.manual_seed(0)
        self.device = device
        self.model = torch.nn.Sequential(
            torch.nn.Linear(64, width),
            torch.nn.ReLU(),
            torch.nn.Linear(width, width),
            torch.nn.ReLU(),
            torch.nn.Linear(width, 10),
        ).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        count = BATCH * STEPS[width]
        examples = TensorDataset(torch.randn(count, 64), torch.zeros(count).long())
        self.loader = DataLoader(examples, batch_size=BATCH)

    def bare(self) -> Times:
        return self._train(self.loader, _no_phase, None)

    def watched(
        self,
        run: agent.Run,
        phase: Phase,
        log: Callable[[float], None] | None = None,
    ) -> Times:
        return self._train(run.loader(self.loader), phase, log)

    def _train(
        self,
        batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
        phase: Phase,
        log: Callable[[float], None] | None,
    ) -> Times:
        times: Times = ([], [])
        began, cpu_began = time.perf_counter(), time.thread_time()
        has_phases = phase is not _no_phase
        for inputs, labels in batches:
            inputs, labels = inputs.to(self.device), labels.to(self.device)  # noqa: PLW2901
            if has_phases:
                with phase("forward"):
                    loss = self._loss(inputs, labels)
                with phase("backward"):
                    loss.backward()
                with phase("optimizer"):
                    self._update()
            else:
                loss = self._loss(inputs, labels)
                loss.backward()
                self._update()
            if log is not None:
                log(0.5)
            now, cpu_now = time.perf_counter(), time.thread_time()
            times[0].append(now - began)
            times[1].append(cpu_now - cpu_began)
            began, cpu_began = now, cpu_now
        return times

    def _loss(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(self.model(inputs), labels)

    def _update(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad()


@contextlib.contextmanager
def _no_phase(_name: str) -> Iterator[None]:
    """Stands for no phase; it is never entered."""
    yield


if __name__ == "__main__":
    main()
