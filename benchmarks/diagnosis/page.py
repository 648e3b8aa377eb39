"""The page of results, from what was replayed; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date

from benchmarks.diagnosis.faults import CASES, Case
from benchmarks.diagnosis.verdicts import (
    Replayed,
    Share,
    Verdict,
    score_rules,
    verdict_of,
)

GOAL = 0.95
_GOOD = (Verdict.RIGHT, Verdict.ALSO_RIGHT)
_NOT_JUDGED = (Verdict.NO_RULE, Verdict.UNANSWERED)


def page(
    replayed: Sequence[Replayed], *, rules: Collection[tuple[str, str]], today: date
) -> str:
    known = {number for number, _ in rules}
    faults = [each for each in replayed if not each.case.is_healthy]
    healthy = [each for each in replayed if each.case.is_healthy]
    return (
        "\n\n".join(
            (
                "# How right the diagnosis is",
                _preface(replayed, today),
                _summary(faults, healthy, known),
                "## Faults",
                _faults(faults, known),
                "## Wrong and silent",
                _wrong(faults, known),
                "## Alarms about something else",
                _other_alarms(faults),
                "## Healthy jobs",
                _healthy(healthy),
                "## Rules",
                _rules(replayed, rules),
                "## Not yet recorded",
                _not_recorded(replayed),
                "## What is real and what is emulated",
                _EMULATED,
                "## Recordings",
                _recordings(replayed),
            )
        )
        + "\n"
    )


def _preface(replayed: Sequence[Replayed], today: date) -> str:
    size = sum(each.size for each in replayed)
    return (
        "Written by `python -m benchmarks.diagnosis.score --write`, never by hand."
        f" {today.day} {today:%B %Y}.\n"
        "Each recording is a real job that was run with the agent offline; what the"
        " agent would have sent is replayed through ingest and diagnosis.\n"
        f"{len(replayed)} recordings, {size / 2**20:.1f} MiB, in"
        " `benchmarks/diagnosis/recordings/`;"
        " `python -m benchmarks.diagnosis.record` makes more.\n"
        "Seeds change sizes and times, so recordings of one fault are alike: the"
        " intervals (95 %, Wilson) take them for independent and are too narrow for"
        " faults that are not here."
    )


def _summary(
    faults: Sequence[Replayed], healthy: Sequence[Replayed], known: set[str]
) -> str:
    verdicts = [verdict_of(each, known) for each in faults]
    judged = [v for v in verdicts if v not in _NOT_JUDGED]
    good = sum(verdict in _GOOD for verdict in judged)
    strict = sum(verdict is Verdict.RIGHT for verdict in judged)
    alarmed = sum(bool(each.false_alarms) for each in healthy)
    lacking = verdicts.count(Verdict.NO_RULE)
    unanswered = verdicts.count(Verdict.UNANSWERED)
    rows = [
        ("primary cause right, of faults whose rule answers", Share(good, len(judged))),
        (
            "and with those that lack a signal counted as wrong",
            Share(good, len(judged) + unanswered),
        ),
        ("of the former exactly the one expected", Share(strict, len(judged))),
        ("healthy jobs with an alarm", Share(alarmed, len(healthy))),
        ("recordings of faults that have no rule yet", f"{lacking}"),
        ("recordings whose rule lacks a signal, such as a GPU's", f"{unanswered}"),
        (
            "rules that broke",
            f"{sum(len(each.failed) for each in [*faults, *healthy])}",
        ),
    ]
    goal = (
        f"The goal is {100 * GOAL:.0f} % and no alarm. That others use the machine (H9)"
        " is no false alarm where they did: the last table says how much."
    )
    return _table(("", ""), rows) + f"\n\n{goal}"


def _faults(faults: Sequence[Replayed], known: set[str]) -> str:
    rows = []
    for case in CASES:
        some = [each for each in faults if each.case is case]
        if not some:
            continue
        outcomes = []
        for each in some:
            verdict, primary = verdict_of(each, known), each.primary
            got = f"{primary.number} {primary.confidence:.2f}" if primary else "nothing"
            outcomes.append(f"{got} ({verdict})")
        also = f", or {', '.join(case.also)}" if case.also else ""
        rows.append(
            (case.name, case.injected, case.expects + also, "; ".join(outcomes))
        )
    return _table(("fault", "injected", "expected", "primary, by seed"), rows)


def _wrong(faults: Sequence[Replayed], known: set[str]) -> str:
    lines = []
    for each in faults:
        verdict, primary = verdict_of(each, known), each.primary
        if verdict in (Verdict.WRONG, Verdict.SILENT):
            said = (
                f"{primary.number} `{primary.rule}`, {primary.confidence:.2f}:"
                f" {primary.summary}"
                if primary
                else "nothing."
            )
            lines.append(f"- {each.name}: expected {each.case.expects}, got {said}")
    return "\n".join(lines) or "None."


def _other_alarms(faults: Sequence[Replayed]) -> str:
    lines = [
        f"- {each.name} ({each.case.expects}): {f.number} `{f.rule}`,"
        f" {f.confidence:.2f}: {f.summary}"
        for each in faults
        for f in each.false_alarms
        if not f.is_primary
    ]
    return "\n".join(
        ["More than possible, no symptom, and not the main finding.", "", *lines]
        if lines
        else ["None."]
    )


def _healthy(healthy: Sequence[Replayed]) -> str:
    rows = []
    for each in healthy:
        said = "; ".join(
            f"{f.number} {f.confidence:.2f}" + (" (symptom)" if f.explained_by else "")
            for f in each.found
        )
        alarms = "; ".join(f"{f.number}: {f.summary}" for f in each.false_alarms)
        rows.append((each.name, each.case.injected, said or "–", alarms or "–"))
    return _table(("job", "what it is", "findings", "false alarms"), rows)


def _rules(replayed: Iterable[Replayed], rules: Collection[tuple[str, str]]) -> str:
    rows = [
        (score.number, score.rule, score.precision, score.recall, score.primary)
        for score in score_rules(replayed, rules)
    ]
    note = (
        "Precision: of its alarms (more than possible, and no symptom of another"
        " finding) those where it names what was injected.\nRecall: of the recordings"
        " made for it, those where it found anything; and those where that was the"
        " primary cause."
    )
    head = ("", "rule", "precision", "recall", "as the primary cause")
    return f"{note}\n\n{_table(head, rows)}"


def _not_recorded(replayed: Iterable[Replayed]) -> str:
    recorded = {each.case.name for each in replayed}
    rows = [
        (c.name, c.injected, c.expects or "nothing", _needs(c))
        for c in CASES
        if c.needs_gpu and c.name not in recorded
    ]
    return "These need a GPU, and no reading of one is invented.\n\n" + _table(
        ("job", "injected", "expected", "needs"), rows
    )


def _needs(case: Case) -> str:
    if case.lacks or case.gpu is None:
        return case.lacks
    seconds = case.gpu.planned_seconds
    return f"a GPU for {seconds / 60:.0f} minutes" if case.gpu.is_long else "a GPU"


def _recordings(replayed: Sequence[Replayed]) -> str:
    rows = [
        (
            each.name,
            each.recorded_at,
            each.steps,
            f"{each.size / 1024:.0f}",
            each.gpu or "–",
            "–" if each.other_cores is None else f"{each.other_cores:.2f}",
            f"{each.machine_cores:g}",
        )
        for each in replayed
    ]
    return (
        "Others: the cores that everybody else kept busy meanwhile, of so many of the"
        " machine; neighbours that a fault brings along are among them.\n\n"
        + _table(("recording", "UTC", "steps", "KiB", "GPU", "others", "of"), rows)
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


_EMULATED = """\
Real: the processes, worker processes and threads; arithmetic on NumPy arrays that takes the CPU time a case says; the loss and
its divergence; CPU quotas (control groups) and neighbours; files read from a virtual machine's disk after the page cache let go of them;
files on a mounted file system in user space (FUSE) that waits before each answer, as a network would; checkpoints of 1 MiB with
`fsync`; memory that is kept; all readings of the agent.

Jobs whose recording names a GPU are real PyTorch on that card, over made-up data, and emulate nothing. How large their models or
batches are was chosen there, so that most steps take some tens of milliseconds; most loops last 11 seconds.

Emulated in all others: the accelerator, which is a process that sleeps while it would compute, so that rules about GPUs cannot answer; data sets
that wait for a source, evaluations, loading of a model and the rest of a checkpoint, which are sleeps in their place.

Recorded with the highest priority that the kernel gives, on a machine that others used meanwhile: the job gets its cores, and the host is
full all the same, which rules see and are less sure for."""
