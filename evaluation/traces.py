"""Diagnoses profiler traces from before and after a change of one job.

python -m evaluation.traces FOLDER

Each folder in FOLDER is one state of the job, in the order of names, and holds its
traces (*.pt.trace.json, also compressed by gzip). Without data in FOLDER it prints a
message.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seamark.commands.importing.trace import read_trace
from seamark.importers.problems import Problems
from seamark.importers.trace import Trace
from seamark.importers.trace_facts import MEASURED, base_microseconds, facts_of
from seamark.importers.trace_steps import Account, account
from tracker.diagnosis.engine.diagnosis import Diagnosis, diagnose
from tracker.diagnosis.engine.judgement import label_of
from tracker.diagnosis.engine.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Kind, Samples

PATTERNS = ("*.pt.trace.json", "*.pt.trace.json.gz")
# Printed durations of a step in milliseconds, with their labels.
SHOWN = (
    ("seconds", "step"),
    ("data_wait_seconds", "wait"),
    ("trace/exposed_wait_seconds", "exposed"),
    ("trace/gpu_busy_seconds", "GPU busy"),
    ("trace/gpu_idle_seconds", "GPU idle"),
    ("device/copy_seconds", "copy"),
    ("trace/exposed_copy_seconds", "exposed"),
    ("trace/launch_seconds", "launches"),
)


@dataclass(frozen=True)
class State:
    """The traces of one state of a job."""

    name: str
    traces: list[tuple[Path, Trace, Account]]

    @property
    def step_seconds(self) -> float:
        """The mean over all steps of all traces."""
        steps = [step for _, _, found in self.traces for step in found.steps]
        return float(np.mean([step.measured["seconds"] for step in steps]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder for each state of the job")
    folder = parser.parse_args().folder
    states = [state for state in map(read_state, sorted(folder.glob("*/"))) if state]
    if not states:
        sys.exit(f"There are no traces below {folder}: nothing was measured.")
    diagnoses = [show_state(state) for state in states]
    for before, after, diagnosis in zip(states, states[1:], diagnoses, strict=False):
        show_pair(before, after, diagnosis)


def read_state(folder: Path) -> State | None:
    """Return the traces of a folder and their analysis; None without traces."""
    paths = sorted(path for pattern in PATTERNS for path in folder.glob(pattern))
    traces = []
    for path in paths:
        problems = Problems()
        trace = read_trace(path, problems)
        found = account(trace)
        for sentence in problems.sentences("event"):
            print(f"{path.name}: {sentence}")
        if found.steps:
            traces.append((path, trace, found))
    return State(folder.name, traces) if traces else None


def show_state(state: State) -> Diagnosis:
    """Print each trace, and the diagnosis of all of them."""
    print(f"## {state.name}")
    for path, trace, found in state.traces:
        print(f"\n{path.name}: {trace.events:,} events, {len(found.steps)} steps; ms")
        print("".join(f"{name:>10}" for name in ("number", *(n for _, n in SHOWN))))
        for step in found.steps:
            print(f"{step.number:>10}" + cells([step.measured]))
        print(f"{'mean':>10}" + cells([step.measured for step in found.steps]))
        show_findings("this trace", diagnose(measurements([(trace, found)])))
    together = diagnose(measurements([(t, found) for _, t, found in state.traces]))
    show_findings("all traces", together)
    print()
    return together


def cells(steps: Sequence[dict[str, float]]) -> str:
    means = [
        np.mean([step[path] for step in steps]) if path in steps[0] else float("nan")
        for path, _ in SHOWN
    ]
    return "".join(f"{1000 * mean:>10.1f}" for mean in means)


def show_findings(what: str, diagnosis: Diagnosis) -> None:
    if not diagnosis.findings:
        print(f"{what}: no findings")
    for each in diagnosis.findings:
        gain = each.finding.gain
        worth = (
            f"; at most {gain.bound:.2f}x, likely {gain.likely:.2f}x" if gain else ""
        )
        print(
            f"{what}: {'*' if each.is_primary else ' '} {each.rule} {each.scope}"
            f" ({each.finding.severity}, {label_of(each.confidence)}"
            f" {each.confidence:.2f}{worth})"
        )
        print(f"            {each.finding.summary}")


def show_pair(before: State, after: State, diagnosis: Diagnosis) -> None:
    achieved = before.step_seconds / after.step_seconds
    print(f"## {before.name} -> {after.name}")
    print(
        f"a step takes {1000 * before.step_seconds:.1f} ms, then"
        f" {1000 * after.step_seconds:.1f} ms: {achieved:.2f}x"
    )
    primary = next((each for each in diagnosis.findings if each.is_primary), None)
    if primary is None or primary.finding.gain is None:
        print("nothing was predicted")
        return
    gain = primary.finding.gain
    print(
        f"predicted by {primary.rule}: at most {gain.bound:.2f}x,"
        f" likely {gain.likely:.2f}x"
    )


def measurements(parts: Iterable[tuple[Trace, Account]]) -> Measurements:
    """Return the input of rules, as after an import."""
    parts = list(parts)
    facts: dict[str, object] = {}
    rows: list[tuple[float, float, dict[str, float]]] = []
    windows: dict[int, list[tuple[float, float]]] = {}
    for trace, found in parts:
        facts |= facts_of(trace)
        base = base_microseconds(trace.header)
        rows += [(s.end + base, float(s.number), s.measured) for s in found.steps]
        for gpu, readings in found.windows.items():
            windows.setdefault(gpu, []).extend(
                (each.end + base, each.measured["utilization_percent"])
                for each in readings
            )
    rows.sort(key=lambda row: row[0])
    return Measurements(
        steps=_steps(rows),
        facts=_facts(facts),
        gpus={gpu: _gpu(gpu, sorted(found), facts) for gpu, found in windows.items()},
        gpu_count=len(windows) or None,
    )


def _steps(rows: Sequence[tuple[float, float, dict[str, float]]]) -> Steps:
    def column(path: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([row[2].get(path, np.nan) for row in rows])

    paths = {path for row in rows for path in row[2]}
    columns, phases = {}, {}
    for signal in SIGNALS.values():
        below = signal.path.removeprefix("step/")
        if signal.kind is Kind.PER_STEP and below in paths:
            columns[signal.name] = column(below)
        if signal.kind is Kind.PHASES:
            start, _, end = below.partition("<name>")
            phases[signal.name] = {
                path.removeprefix(start).removesuffix(end): column(path)
                for path in sorted(paths)
                if path.startswith(start)
            }
    return Steps(
        np.array([row[1] for row in rows]),
        np.array([round(row[0]) for row in rows], np.int64),
        columns,
        phases,
    )


def _facts(facts: dict[str, object]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for signal in SIGNALS.values():
        value = facts.get(signal.path.removeprefix("facts/"))
        if signal.kind is Kind.FACT and isinstance(value, (int, float, str)):
            found[signal.name] = value if isinstance(value, str) else float(value)
    return found


def _gpu(
    gpu: int, readings: Sequence[tuple[float, float]], facts: dict[str, object]
) -> dict[str, Samples | float | str]:
    of_gpu = {
        path.replace(f"gpu/{gpu}/", "gpu/<i>/"): value for path, value in facts.items()
    }
    found: dict[str, Samples | float | str] = dict(_facts(of_gpu))
    found = {name: value for name, value in found.items() if SIGNALS[name].is_per_gpu}
    found["gpu_utilization_percent"] = Samples(
        np.array([round(at) for at, _ in readings], np.int64),
        np.array([percent for _, percent in readings]),
        MEASURED,
    )
    return found


if __name__ == "__main__":
    main()
