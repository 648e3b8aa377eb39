"""Prints the time breakdown of each recording, ranked as on the GPU hours page.

python -m evaluation.breakdowns                recordings with a GPU
python -m evaluation.breakdowns no-workers     one case
"""

from __future__ import annotations

import argparse

from evaluation.recordings import all_recordings, read_recording

SHOWN = 0.001
COLUMNS = ("recording", "wasted", "of", "computing", "idle in steps", "the rest")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases; by default those with a GPU")
    options = parser.parse_args()

    # Here: it loads Django, which the help does not need.
    from evaluation.replay import ingest, prepare  # noqa: PLC0415
    from tracker.diagnosis.breakdown.categories import WASTED_USES, Use  # noqa: PLC0415
    from tracker.queries.diagnoses.diagnoses import diagnoses_of  # noqa: PLC0415
    from tracker.queries.diagnoses.time_breakdowns import run_ledger  # noqa: PLC0415

    prepare()
    rows = []
    for path in all_recordings():
        name = path.name.partition(".")[0]
        if options.names and name.rpartition("-")[0] not in options.names:
            continue
        run = ingest(read_recording(path))
        ledger = run_ledger((each.ledger for each in diagnoses_of(run)), run.project)
        if ledger is None or not (ledger.is_of_gpus or options.names):
            continue
        wasted = sum(part.seconds for part in ledger.parts if part.use in WASTED_USES)
        shares = dict(ledger.share_of)
        first = [shares.pop(use, 0.0) for use in (Use.COMPUTING, Use.IDLE_IN_STEPS)]
        rest = (f"{use} {share:.1%}" for use, share in shares.items() if share >= SHOWN)
        row = (name, f"{wasted:.1f} s", f"{ledger.seconds:.1f} s")
        rows.append((wasted, (*row, *map("{:.1%}".format, first), ", ".join(rest))))
    print("| " + " | ".join(COLUMNS) + " |")
    print("| --- " * len(COLUMNS) + "|")
    for _, cells in sorted(rows, reverse=True):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
