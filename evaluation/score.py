"""Replays recordings through ingest and diagnosis and counts right and wrong answers.

python -m evaluation.score                    all parts
python -m evaluation.score --part tune        one part
python -m evaluation.score --table            which rules have recordings
python -m evaluation.score --write            write the figures into docs/evaluation.md
python -m evaluation.score --part tune houses -v    jobs by prefix, with all findings

For the parts of test it prints totals only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from evaluation.jobs import Expects, jobs_of
from evaluation.recordings import HERE, PARTS, SYNTHETIC, all_recordings
from evaluation.verdicts import Replayed, Share, Verdict, verdict_of

PAGE = HERE.parent / "docs" / "evaluation.md"
# Single results of the other parts are not printed: no rule may be written for them.
DEVELOPED_WITH = ("tune", "tune/long", "tune/gpu")
MODES = ("alone", "disturbed", "neighbors", "synthetic")


def main() -> None:
    options = parse()
    # Here: it loads Django, which the help does not need.
    from evaluation.replay import prepare  # noqa: PLC0415

    prepare()
    parts = [options.part] if options.part else PARTS
    scored = {part: list(replay_part(part, options.names)) for part in parts}
    if options.verbose:
        for part in DEVELOPED_WITH:
            for one in scored.get(part, []):
                print(describe(one))
    for part in parts:
        print(f"## {part}\n\n{scores(scored[part])}\n")
        if part in DEVELOPED_WITH:
            print(f"{mistakes(scored[part])}\n")
    if options.table:
        print(rules_table(scored))
    if options.floor:
        below = below_floor(scored["tune"], json.loads(options.floor.read_text()))
        sys.exit("\n".join(below) or None)
    if options.write and not options.names:
        write_page(scored)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="prefixes of jobs; by default all")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--table", action="store_true", help="recordings of each rule")
    parser.add_argument("--write", action="store_true", help="update the page")
    parser.add_argument("--floor", type=Path, help="fail where tune has less right")
    parser.add_argument("-v", "--verbose", action="store_true", help="findings in tune")
    return parser.parse_args()


def replay_part(part: str, prefixes: Sequence[str] = ()) -> Iterator[Replayed]:
    """Replay a part's recordings; those of synthetic jobs belong to tune."""
    from evaluation.replay import replay  # noqa: PLC0415

    def is_wanted(name: str) -> bool:
        return not prefixes or name.startswith(tuple(prefixes))

    for job in jobs_of(part):
        for mode in job.modes:
            path = job.recording(mode)
            if is_wanted(job.name) and path.exists():
                yield replay(path, job.label)
    if part == "tune":
        for path in all_recordings(SYNTHETIC):
            if is_wanted(path.name):
                yield replay(path)


def scores(replayed: Sequence[Replayed]) -> str:
    """Return the table of shares, with a column for each mode that has recordings."""
    modes = [mode for mode in MODES if any(one.mode == mode for one in replayed)]
    columns = [[one for one in replayed if one.mode == mode] for mode in modes]
    faults = [_of(column, Expects.FAULT) for column in columns]
    rows = [
        (f"faults: {verdict}", *(str(_share(some, verdict)) for some in faults))
        for verdict in Verdict
    ]
    healthy = [_of(column, Expects.HEALTHY) for column in columns]
    rows.append(
        ("healthy jobs accused", *(str(_share(h, Verdict.WRONG)) for h in healthy))
    )
    short = [_of(column, Expects.NOT_ENOUGH_DATA) for column in columns]
    rows.append(
        (
            "too short, and reported so",
            *(str(_share(some, Verdict.RIGHT)) for some in short),
        )
    )
    foreign = [[one.foreign_cores or 0.0 for one in column] for column in columns]
    rows.append(
        (
            "cores that other programs used, median",
            *(f"{median(f):.2f}" for f in foreign),
        )
    )
    return table(("", *modes), rows)


def below_floor(
    replayed: Sequence[Replayed], floors: dict[str, dict[str, int]]
) -> list[str]:
    """Name modes with fewer right main findings or more accused jobs than allowed."""
    problems = []
    for mode, floor in floors.items():
        some = [one for one in replayed if one.mode == mode]
        right = _of(some, Expects.FAULT).count(Verdict.RIGHT)
        accused = _of(some, Expects.HEALTHY).count(Verdict.WRONG)
        if right < floor["right"]:
            problems.append(f"{mode}: {right} right, expected {floor['right']}")
        if accused > floor["accused"]:
            problems.append(f"{mode}: {accused} accused, at most {floor['accused']}")
    return problems


def _of(replayed: Iterable[Replayed], expects: Expects) -> list[Verdict]:
    return [verdict_of(one) for one in replayed if one.label.expects is expects]


def _share(verdicts: Sequence[Verdict], verdict: Verdict) -> Share:
    return Share(verdicts.count(verdict), len(verdicts))


def mistakes(replayed: Iterable[Replayed]) -> str:
    """List wrong main findings and accusations of healthy jobs."""
    lines = []
    for one in replayed:
        if verdict_of(one) is not Verdict.WRONG:
            continue
        is_fault = one.label.expects is Expects.FAULT
        wrong = [one.main] if is_fault and one.main else one.alarms
        reported = ", ".join(f"{f.rule} {f.confidence:.2f}" for f in wrong)
        expected = ", ".join(sorted(one.label.causes)) or one.label.expects
        lines.append(
            f"- {one.name}, {one.mode}: expected {expected}; reported"
            f" {reported or 'no bottleneck'}"
        )
    return "\n".join(lines) or "No mistakes."


def summary(scored: dict[str, list[Replayed]]) -> str:
    """Return one column for each kind of recordings, with shares of all modes."""
    columns = {
        "tune: scripts": [o for o in scored["tune"] if o.mode != "synthetic"],
        "tune: long scripts": scored.get("tune/long", []),
        "tune: GPU scripts": scored.get("tune/gpu", []),
        "tune: synthetic": [o for o in scored["tune"] if o.mode == "synthetic"],
        "test: scripts": scored["test"],
        "test: long scripts": scored.get("test/long", []),
        "test: GPU scripts": scored.get("test/gpu", []),
    }
    rows = [("recordings", *(str(len(c)) for c in columns.values()))]
    rows += [
        (name, *(str(_share(_of(c, Expects.FAULT), v)) for c in columns.values()))
        for name, v in (
            ("fault found", Verdict.RIGHT),
            ("wrong fault reported", Verdict.WRONG),
            ("fault not found, nothing wrong reported", Verdict.NOT_ENOUGH_DATA),
        )
    ]
    for name, modes in (
        ("healthy job accused, no neighbors", ("alone", "disturbed", "synthetic")),
        ("healthy job accused, next to neighbors", ("neighbors",)),
    ):
        some = ([o for o in c if o.mode in modes] for c in columns.values())
        healthy = [_of(each, Expects.HEALTHY) for each in some]
        rows.append((name, *(str(_share(h, Verdict.WRONG)) for h in healthy)))
    return table(("", *columns), rows)


def rules_table(scored: dict[str, list[Replayed]]) -> str:
    """Count, for each rule that a label names, the recordings with this label.

    Right answers are counted in tune only: most rules have one or two recordings in test,
    so their counts would be single results.
    """
    from evaluation.replay import TITLES  # noqa: PLC0415

    rows = []
    for rule, title in sorted(TITLES.items(), key=lambda item: item[1]):
        tune, test = (
            [
                one
                for part, some in scored.items()
                if part.startswith(kind)
                for one in some
                if rule in one.label.causes
            ]
            for kind in ("tune", "test")
        )
        if not tune and not test:
            continue
        modes = [
            [o for o in tune if (o.mode == "synthetic") == s] for s in (False, True)
        ]
        cells = [
            f"{[verdict_of(o) for o in some].count(Verdict.RIGHT)} of {len(some)}"
            if some
            else "–"
            for some in modes
        ]
        name = f"[{title}](diagnoses/{rule}.md)"
        rows.append((name, *cells, str(len(test)) if test else "–"))
    head = ("rule", "tune: scripts", "tune: synthetic", "test: recordings")
    return table(head, rows)


def describe(one: Replayed) -> str:
    """Return a recording's verdict with all its findings."""
    expected = ", ".join(sorted(one.label.causes)) or one.label.expects
    lines = [f"{one.name} {one.mode}: {verdict_of(one)}, expected {expected}"]
    for each in one.found:
        mark = "*" if each.is_main else "!" if each.is_shown else " "
        lines.append(
            f"  {mark} {each.rule} {each.confidence:.2f} [{each.stage}]"
            f"\n        {each.summary}"
        )
    return "\n".join([*lines, *(f"  {rule} raised" for rule in one.failed)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def write_page(scored: dict[str, list[Replayed]]) -> None:
    """Replace the text between the page's markers for each part."""
    today = datetime.now(UTC)
    content = {}
    if set(scored) == set(PARTS):
        content = {"summary": summary(scored), "rules": rules_table(scored)}
    for part, replayed in scored.items():
        content[f"scores of {part}"] = (
            f"{scores(replayed)}\n\nMeasured on {today.day} {today:%B %Y}."
        )
        if part in DEVELOPED_WITH:
            content[f"mistakes of {part}"] = mistakes(replayed)
    text = PAGE.read_text()
    for name, shown in content.items():
        text = re.sub(
            rf"(?s)(<!-- {name} -->\n).*?(<!-- end -->)",
            lambda match, shown=shown: f"{match[1]}{shown}\n{match[2]}",
            text,
        )
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
