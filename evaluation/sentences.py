"""Prints findings as the run page shows them, to read and correct.

python -m evaluation.sentences                  every rule, on its test stages
python -m evaluation.sentences --corpus         recordings, one of each case
python -m evaluation.sentences --corpus no-workers
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from evaluation.recordings import all_recordings, read_recording
from evaluation.replay import ingest, prepare
from tests.tracker.diagnosis.stages import examples
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.rules import RULES
from tracker.queries.diagnoses.diagnoses import diagnoses_of, every_finding
from web.templatetags.quantities import factor, limit, quantity


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="rules or cases; by default all")
    parser.add_argument("--corpus", action="store_true", help="replay recordings")
    options = parser.parse_args()
    shown = of_corpus(options.names) if options.corpus else of_rules(options.names)
    for name, title, finding in shown:
        print("\n".join(lines_of(name, title, finding)), end="\n\n")


def of_rules(names: Iterable[str]) -> Iterator[tuple[str, str, Finding]]:
    for rule in RULES:
        if names and rule.name not in names:
            continue
        for measurements in examples(rule, "ALARMS"):
            for judgement in diagnose(measurements, rules=[rule]).findings:
                yield rule.name, judgement.title, judgement.finding


def of_corpus(names: Iterable[str]) -> Iterator[tuple[str, str, Finding]]:
    prepare()
    for path in all_recordings():
        case, _, seed = path.name.partition(".")[0].rpartition("-")
        if seed != "1" or (names and case not in names):
            continue
        for diagnosis in diagnoses_of(ingest(read_recording(path))):
            for found in every_finding(diagnosis.findings):
                yield f"{case}: {found.rule}", found.title, found


def lines_of(name: str, title: str, finding: Finding) -> Iterator[str]:
    yield f"--- {name}"
    yield f"# {title} [{finding.severity}]"
    yield finding.summary
    for row in finding.evidence:
        value, beyond = quantity(row.value, row.unit), limit(row)
        yield f"  | {row.statistic} <{row.signal}> | {value} | {beyond}"
    if finding.gain is not None:
        gain = finding.gain
        yield f"  = {factor(gain.likely)}, at most {factor(gain.bound)}. {gain.basis}"
        yield f"  = next: {gain.next_limit}"
    for each in finding.recommendations:
        change = f" [{each.current} -> {each.suggested}]" if each.suggested else ""
        yield f"  > {each.text}{change}"
    yield f"  ? {finding.disproof}"


if __name__ == "__main__":
    main()
