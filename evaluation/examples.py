"""Writes an example of each rule from the recordings of the part tune.

python -m evaluation.examples          write tracker/diagnosis/examples.json
python -m evaluation.examples --check  exit with 1 if the file is out of date

Then `manage.py render_rule_docs` writes the pages. Each example is the finding of the
recording in which the rule is most certain, scripts before synthetic jobs. A rule without
a recording gets the example of its test.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from evaluation.example_jobs import rules_by_script
from evaluation.jobs import jobs_of
from evaluation.recordings import SYNTHETIC, all_recordings, read_recording
from evaluation.replay import NUMBERS, ingest, prepare
from evaluation.synthetic.faults import find_case
from tests.tracker.diagnosis.stages import examples
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.examples import PATH, Example, Row, to_json
from tracker.diagnosis.engine.finding import Evidence
from tracker.diagnosis.rules import RULES
from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    diagnoses_of,
    every_finding,
)
from web.templatetags.quantities import limit, quantity

PART = "tune"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    prepare()
    text = to_json(all_examples())
    if not options.check:
        PATH.write_text(text, encoding="utf-8")
        return
    if json.loads(text) != json.loads(PATH.read_text("utf-8")):
        sys.exit(f"{PATH.name} is out of date: run python -m evaluation.examples")


def all_examples() -> dict[str, Example]:
    best: dict[str, tuple[tuple[bool, bool, float], Example]] = {}
    for is_script, name, path, causes in recordings():
        for diagnosis in diagnoses_of(ingest(read_recording(path))):
            for found in every_finding(diagnosis.findings):
                if found.rule not in causes:
                    continue
                weight = (is_script, found.is_primary, found.confidence)
                if found.rule not in best or weight > best[found.rule][0]:
                    best[found.rule] = weight, example_of(found, name)
    return {
        rule.name: best[rule.name][1] if rule.name in best else of_tests(rule.name)
        for rule in RULES
    }


def recordings() -> Iterator[tuple[bool, str, Path, frozenset[str]]]:
    """Yield the recordings of faults, each with the rules that name its fault."""
    for job in jobs_of(PART):
        for mode in ("alone", "neighbors"):
            path = job.recording(mode)
            if job.label.causes and path.exists():
                yield True, f"{job.name}, {mode}", path, job.label.causes
    for script, rule in rules_by_script().items():
        if script.recording.exists():
            yield True, script.name, script.recording, frozenset({rule})
    for path in all_recordings(SYNTHETIC):
        case, _, seed = path.name.partition(".")[0].rpartition("-")
        wanted = find_case(case)
        numbers = {wanted.expects, *wanted.also}
        causes = frozenset(
            rule for rule, number in NUMBERS.items() if number in numbers
        )
        if not wanted.is_healthy:
            yield False, f"{case}, synthetic, seed {seed}", path, causes


def example_of(found: FindingView, recording: str) -> Example:
    return Example(recording, found.title, found.summary, rows_of(found.evidence))


def of_tests(name: str) -> Example:
    """Return the finding in the first made-up stage of the rule's test."""
    rule = next(rule for rule in RULES if rule.name == name)
    found = diagnose(examples(rule, "ALARMS")[0]).findings
    judgement = next(each for each in found if each.rule == name)
    finding = judgement.finding
    return Example("", judgement.title, finding.summary, rows_of(finding.evidence))


def rows_of(evidence: tuple[Evidence, ...]) -> tuple[Row, ...]:
    return tuple(
        Row(one.statistic, quantity(one.value, one.unit), limit(one))
        for one in evidence
    )


if __name__ == "__main__":
    main()
