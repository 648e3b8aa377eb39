"""A real PyTorch trainer for the jobs that need a GPU.

record.py runs it as `python -m evaluation.synthetic.gpu.trainer NAME`. With `--device
cpu` jobs are tiny, only to test that their code runs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch

from evaluation.synthetic.faults import find_case
from evaluation.synthetic.gpu.jobs import JOBS
from evaluation.synthetic.gpu.training import Setting


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--seconds", type=float, help="instead of the case's own")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    case = find_case(options.name)
    if case.gpu is None:
        raise SystemExit(f"{case.name} is no job for one GPU")
    torch.manual_seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="seamark-corpus-") as folder:
        setting = Setting(
            name=case.name,
            device=torch.device(options.device),
            seconds=options.seconds or case.gpu.seconds,
            folder=Path(folder),
        )
        JOBS[case.name](setting)


if __name__ == "__main__":
    main()
