"""Runs a benchmark and keeps what it printed, as a section of a page of the documentation.

    python -m benchmarks.keep agent_faults CF-21 --amount 45
    python -m benchmarks.keep pages.charts
    python -m benchmarks.keep --on "16 cores, one H100" monitoring

Each benchmark has a page in docs/benchmarks/, and there each set of arguments a section,
which the same command replaces; on another machine, that is named, it has a section
beside it. What it was run with stands above its figures.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.faults.case import commit
from tracker.processes import ROOT

BENCHMARKS = ROOT / "benchmarks"
PAGES = ROOT / "docs/benchmarks"
# With 1 it says that a bound does not hold, which is a result like any other.
RESULTS = (0, 1)
SECTION = re.compile(r"^## ", re.MULTILINE)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keep")
    parser.description = (__doc__ or "").splitlines()[0]
    parser.add_argument(
        "--on", metavar="MACHINE", default="", help="another one than usual, in words"
    )
    parser.add_argument(
        "benchmark", help="a module of benchmarks, such as pages.charts"
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own")
    options = parser.parse_args(arguments)
    name = options.benchmark
    if not source(name).is_file():
        parser.error(f"there is no benchmark {name}")
    command = ["python", "-m", f"benchmarks.{name}", *options.arguments]
    made_from = f"{datetime.now(UTC):%-d %B %Y}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, commit {commit()}."
    status, printed = run([sys.executable, *command[1:]])
    if status not in RESULTS or not has_table(printed):
        print("Nothing is kept: it did not come to its end.", file=sys.stderr)
        return status or 1
    ending = ["", "It ended with status 1."] if status else []
    body = "\n".join([made_from, "", *tidy(printed), *ending])
    path = PAGES / f"{name.replace('.', '-').replace('_', '-')}.md"
    before = renewed(path.read_text("utf-8") if path.exists() else "", name)
    path.write_text(with_section(before, title(command, options.on), body), "utf-8")
    return status


def title(command: Sequence[str], machine: str) -> str:
    """Return what a section is called: its command, and the machine if it is named."""
    return f"`{shlex.join(command)}`" + (f", {machine}" if machine else "")


def run(command: Sequence[str]) -> tuple[int, list[str]]:
    """Run a command, printing what it prints; return its status and its lines."""
    printed = []
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line.rstrip())
    return process.returncode, printed


def has_table(lines: Sequence[str]) -> bool:
    return any(line.startswith("|") for line in lines)


def tidy(lines: Sequence[str]) -> Iterator[str]:
    """Set tables and sentences apart by one empty line, and headings one level lower."""
    last = ""
    for line in lines:
        if line and last and line.startswith("|") != last.startswith("|"):
            yield ""
        if line or last:
            yield f"#{line}" if line.startswith("##") else line
        last = line


def source(name: str) -> Path:
    """Return the file that a benchmark's command runs; it may not be there."""
    path = BENCHMARKS.joinpath(*name.split("."))
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


def head(name: str) -> str:
    """Return the beginning of a new page: what the benchmark says it measures."""
    said = ast.get_docstring(ast.parse(source(name).read_text("utf-8"))) or ""
    return (
        f"# Figures of `{name}`\n\n"
        f"{said.splitlines()[0]}\n\n"
        f"Written by `python -m benchmarks.keep {name} …`, never by hand;"
        " [what is measured, and how](../benchmarks.md).\n"
    )


def renewed(page: str, name: str) -> str:
    """Return a page's sections under the head that a new page would have."""
    _, *sections = SECTION.split(page)
    return "\n".join([head(name), *(f"## {section}" for section in sections)])


def with_section(page: str, title: str, body: str) -> str:
    """Return a page with one section replaced, or added in the order of the titles."""
    beginning, *rest = SECTION.split(page.rstrip() + "\n")
    sections = dict(section.split("\n", 1) for section in rest)
    sections[title] = f"\n{body.rstrip()}\n"
    written = (f"## {name}\n\n{sections[name].strip()}\n" for name in sorted(sections))
    return "\n".join([beginning.rstrip() + "\n", *written])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
