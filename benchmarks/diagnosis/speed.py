"""Times the diagnosis of a long run: 24 hours, 8 GPUs, a reading and a step a second.

python benchmarks/diagnosis/speed.py            the engine alone
python benchmarks/diagnosis/speed.py --steps 10 ten steps a second
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

# Run as a file, Python looks beside it and not at the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tracker.diagnosis.engine import diagnose
from tracker.diagnosis.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Kind, Samples

HOUR = 3600
SECOND = 1_000_000
START = 1_767_355_200_000_000
GIB = 1024**3
REPEATS = 5


def main() -> None:
    options = parse()
    measurements = make_measurements(options.hours, options.gpus, options.steps)
    points = sum(len(s.values) for s in measurements.all_samples())
    points += 2 * len(measurements.steps)

    seconds = []
    for has_ended in [True, False] * REPEATS:
        began = time.perf_counter()
        diagnosis = diagnose(measurements, has_ended=has_ended)
        seconds.append(time.perf_counter() - began)
    print(
        f"{options.hours} h, {options.gpus} GPUs, {options.steps:g} steps/s:"
        f" {points:,} points"
    )
    print(
        f"final pass  best {min(seconds[::2]):.3f} s, worst {max(seconds[::2]):.3f} s"
    )
    print(
        f"live pass   best {min(seconds[1::2]):.3f} s, worst {max(seconds[1::2]):.3f} s"
    )
    print(f"findings: {[f'{f.rule} {f.scope}'.strip() for f in diagnosis.findings]}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--steps", type=float, default=1.0, help="steps per second")
    return parser.parse_args()


def make_measurements(hours: int, gpus: int, steps_per_second: float) -> Measurements:
    random = np.random.default_rng(0)
    seconds = hours * HOUR
    ticks = START + np.arange(1, seconds + 1) * SECOND

    def noisy(mean: float, spread: float) -> Samples:
        return Samples(ticks, mean + spread * random.standard_normal(seconds))

    count = int(seconds * steps_per_second)
    lasting = random.gamma(50, 0.02 / steps_per_second, count)
    sampled = [s for s in SIGNALS.values() if s.kind is Kind.SAMPLED]
    return Measurements(
        steps=Steps(
            np.arange(count, dtype=np.float64),
            START + (np.cumsum(lasting) * SECOND).astype(np.int64),
            {"step_seconds": lasting, "data_wait_seconds": 0.3 * lasting},
        ),
        samples={
            s.name: noisy(1.0, 0.1) for s in sampled if s.path and not s.is_per_gpu
        },
        facts={"effective_cores": 64.0, "loader_workers": 8.0, "batch_size": 32.0},
        gpus={
            gpu: {
                "gpu_utilization_percent": noisy(60.0, 10.0),
                "gpu_memory_used_bytes": noisy(40 * GIB, GIB),
                "gpu_memory_total_bytes": 80.0 * GIB,
            }
            for gpu in range(gpus)
        },
        gpu_count=gpus,
    )


if __name__ == "__main__":
    main()
