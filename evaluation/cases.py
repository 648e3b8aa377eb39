"""Imports files written by public tools and compares the result with expectations.

python -m evaluation.cases FOLDER

evaluation/cases.toml has the expected results; the files themselves are not part of the
repository. A case without its file is listed as skipped.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import tomllib

from evaluation.recordings import HERE, Recording, frames_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    # Here: it loads Django, which the help does not need.
    from evaluation.replay import prepare  # noqa: PLC0415

    prepare()
    results = []
    for case in tomllib.loads((HERE / "cases.toml").read_text())["case"]:
        name = case.get("name", case["files"][0])
        paths = [folder / each for each in case["files"]]
        if not all(path.exists() for path in paths):
            print(f"skipped: {name}: no file")
            continue
        problems = check(name, case, paths)
        results.append(not problems)
        print(f"{'wrong' if problems else 'right'}: {name}", *problems, sep="\n    ")
    print(f"{sum(results)} of {len(results)} right")
    sys.exit(not all(results))


def check(name: str, case: Mapping[str, str], paths: list[Path]) -> list[str]:
    """Import the files of a case and return how the result differs from the right one."""
    from evaluation.replay import ingest  # noqa: PLC0415
    from tracker.models import Attribute, Finding  # noqa: PLC0415

    made = imported(case["run"], paths)
    if isinstance(made, str):
        return [made]
    run = ingest(Recording(name, 0, "", 0, made))
    series = set(Attribute.objects.filter(run=run).values_list("path", flat=True))
    problems = [
        f"no series {path}"
        for path in case.get("series", ())
        if not any(each.endswith(f"/{path}") for each in series)
    ]
    found = Finding.objects.filter(run=run, is_open=True)
    main = set(found.filter(is_primary=True).values_list("rule", flat=True))
    if "any_of" in case and not main & set(case["any_of"]):
        expected = " or ".join(case["any_of"])
        problems.append(
            f"expected {expected}; main finding: {', '.join(main) or 'none'}"
        )
    wrong = found.filter(rule__in=case.get("none_of", ()))
    return [*problems, *(f"found {each.rule}" for each in wrong)]


def imported(run: str, paths: list[Path]) -> list[list[tuple[int, bytes]]] | str:
    """Import files with the agent offline; return the records to upload, or the error."""
    importer, *options = shlex.split(run)
    with tempfile.TemporaryDirectory() as spool:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "seamark", "import", importer),
                *(*map(str, paths), "--run", "case", *options),
            ],
            env={**os.environ, "SEAMARK_SPOOL": spool, "SEAMARK_MODE": "offline"},
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return f"import failed: {done.stderr.strip()[-300:]}"
        return frames_of(Path(spool))


if __name__ == "__main__":
    main()
