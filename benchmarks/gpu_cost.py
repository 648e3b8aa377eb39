"""Measures what the agent costs a training on a GPU: python -m benchmarks.gpu_cost.

A small network trains with short steps, so that the CPU limits it, which is the worst case for
anything that runs beside it. Three variants alternate: without the agent, with it and a value
logged in each step, and the same without the code profile. Needs PyTorch and a GPU; prints
medians of steps per second, and asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

SCRIPT = """
import sys, time
import torch

seconds, uses_agent = float(sys.argv[1]), sys.argv[2] == "agent"
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(
    *(layer for _ in range(6) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU()))
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
inputs = torch.randn(64, 512, device=device)

def step():
    loss = model(inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

for _ in range(50):
    loss = step()
loss.item()
run = None
if uses_agent:
    import agent
    run = agent.init("cost")
steps, began = 0, time.perf_counter()
while time.perf_counter() - began < seconds:
    loss = step()
    steps += 1
    if run is not None:
        run.log({"step": steps})
loss.item()
print(steps / (time.perf_counter() - began))
if run is not None:
    run.finish()
"""
VARIANTS = {
    "without the agent": ("plain", "no"),
    "with the agent": ("agent", "yes"),
    "without the code profile": ("agent", "no"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(options.rounds):
        for name, (agent, profile) in VARIANTS.items():
            with tempfile.TemporaryDirectory() as folder:
                rates[name].append(_rate(agent, profile, options.seconds, Path(folder)))
    without = median(rates["without the agent"])
    print("| training | steps/s | all rounds | time per step, ratio |")
    print("|---|--:|---|--:|")
    for name, found in rates.items():
        each = ", ".join(f"{rate:.0f}" for rate in found)
        print(
            f"| {name} | {median(found):.0f} | {each} | {without / median(found):.3f} |"
        )


def _rate(agent: str, profile: str, seconds: float, folder: Path) -> float:
    file = folder / "script.py"
    file.write_text(SCRIPT)
    root = str(Path(__file__).parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "SEAMARK_PROFILE": profile,
        "SEAMARK_MODE": "offline",
        "SEAMARK_SPOOL": str(folder / "spool"),
    }
    done = subprocess.run(
        [sys.executable, file, str(seconds), agent],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
