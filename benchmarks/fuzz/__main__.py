"""Fuzzes all decoders of untrusted bytes, with repaired checksums.

    .venv/bin/pip install -r requirements-fuzz.txt
    .venv/bin/python -m benchmarks.fuzz BI-10 --seconds 3600

Each decoder runs for that many seconds, in a process with little memory. Crashing
inputs are kept with the corpus in --folder. BI-10 is the query parser, BI-16 are all
others. Prints a Markdown table; exits with 1 if a decoder crashed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

settings.configure()  # some decoders belong to the API, whose modules need settings

from tests.slow.fuzz.decoders import DECODERS, MAX_BYTES  # noqa: E402

EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
PROGRESS = re.compile(r"^#(\d+)\s", re.MULTILINE)
# An input that takes longer is reported, too.
SECONDS_PER_INPUT = 5
QUERIES = {"query"}
CASES = {
    "BI-10": [name for name in DECODERS if name in QUERIES],
    "BI-16": [name for name in DECODERS if name not in QUERIES],
}
# The specified duration, and the shorter default.
SECONDS, SECONDS_IN_FULL = 30, 3_600


@dataclass(frozen=True, slots=True)
class Outcome:
    executions: int
    is_crash: bool
    said: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)}; or all")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each decoder")
    parser.add_argument("--only", choices=DECODERS, nargs="*", default=list(DECODERS))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if unknown := sorted(set(options.cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    if importlib.util.find_spec("atheris") is None:
        # Exit status 2: nothing was tested.
        parser.error("atheris is not here: pip install -r requirements-fuzz.txt")
    folder = options.folder or Path(tempfile.mkdtemp(prefix="seamark-fuzz-"))

    print("| case | decoder | seconds | executions | a second | crashes | holds |")
    print("|---|---|---|---|---|---|---|")
    said = []
    chosen = [
        (case, name)
        for case in options.cases or CASES
        for name in CASES[case]
        if name in options.only
    ]
    for case, name in chosen:
        outcome = fuzz(name, folder / name.replace(" ", "-"), options.seconds)
        cells = [
            case,
            name,
            f"{options.seconds:,}",
            f"{outcome.executions:,}",
            f"{outcome.executions / options.seconds:,.0f}",
            str(int(outcome.is_crash)),
            "**no**" if outcome.is_crash else "yes",
        ]
        print("|", " | ".join(cells), "|", flush=True)
        if outcome.is_crash:
            said.append(outcome.said)
    print(*said, sep="\n", file=sys.stderr)
    print(f"corpus and findings are in {folder}", file=sys.stderr)
    print(
        "\nNo crash, and no allocation beyond what a decoder declares, is what must hold;"
        f" in full for {SECONDS_IN_FULL:,} s each."
    )
    return 1 if said else 0


def fuzz(name: str, folder: Path, seconds: int) -> Outcome:
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(DECODERS[name].seeds):
        (corpus / f"seed-{number}").write_bytes(seed[:MAX_BYTES])
    command = [
        *(sys.executable, "-m", "benchmarks.fuzz.harness", name, str(corpus)),
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES}",
        f"-timeout={SECONDS_PER_INPUT}",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
        "-rss_limit_mb=0",  # the harness limits itself
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    counted = EXECUTIONS.findall(done.stdout) or PROGRESS.findall(done.stdout) or [0]
    is_crash = done.returncode != 0
    return Outcome(int(counted[-1]), is_crash, done.stdout[-4_000:])


if __name__ == "__main__":
    sys.exit(main())
