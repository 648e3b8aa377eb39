"""Runs the example pipeline against a server on this machine, and shows the result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from tracker.actions.access import found_installation, make_sign_in_link, make_token
from tracker.actor import Scope
from tracker.embedded.data_folder import running_url
from tracker.embedded.refusal import Refusal
from tracker.embedded.server import EmbeddedServer
from tracker.models import Ladder, Work
from tracker.queries.diagnoses.diagnoses import main_findings
from tracker.queries.ladders.ladders import LadderView, ladder_rungs, read_ladder
from tracker.server.processes import ROOT

TOKEN_LIFETIME = timedelta(days=1)
# Time limit for the last runs' diagnoses after the scripts have ended.
DIAGNOSIS_SECONDS = 30.0
DASH = "–"


class Command(BaseCommand):
    help = "Run the example pipeline and show it in a server on this machine."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--exit",
            action="store_true",
            help="print the summary table and exit instead of keeping the server running",
        )
        parser.add_argument("--epochs", type=int, default=8, help="per run")
        # manage.py has turned them into settings; they are listed here for --help.
        parser.add_argument("--port", type=int, help="port to listen on")
        parser.add_argument("--bind", help="address to listen on")
        parser.add_argument("--data", help="data folder")

    def handle(self, *args: Any, **options: Any) -> None:
        # SIGINT too, because background jobs of a shell start with it ignored.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        try:
            self.show(epochs=options["epochs"], stay=not options["exit"])
        except Refusal as refusal:
            sys.exit(str(refusal))
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")

    def show(self, *, epochs: int, stay: bool) -> None:
        with self.server() as (url, is_ours):
            self.say(f"Seamark runs at {url}")
            self.say(f"Sign in with this one-time link: {sign_in_link(url, '/')}\n")
            ladder_id = self.run_ladder(url, epochs)
            self.wait_for_diagnoses(ladder_id)
            self.print_rungs(ladder_id)
            page = reverse("ladder", args=[ladder_id])
            if is_ours and stay:
                self.say(f"\nCompare the four runs: {sign_in_link(url, page)}")
                self.say(
                    "The link works once. Ctrl-C stops the server; the data is kept."
                )
                while True:
                    signal.pause()
            self.say(f"\nLadder: {url}{page}")

    @contextmanager
    def server(self) -> Iterator[tuple[str, bool]]:
        """Use the server that is running on the data folder, or start one."""
        if url := running_url(settings.DATA_FOLDER):
            yield url, False
            return
        server = EmbeddedServer(
            settings.DATA_FOLDER,
            settings.PORT,
            bind=settings.BIND,
            url=settings.PUBLIC_URL,
            print_line=self.say,
        )
        with server:
            yield server.url, True

    def run_ladder(self, url: str, epochs: int) -> str:
        """Run the four pipelines; return the id of their ladder."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "SEAMARK_QUIET": "1",  # the ladder prints a line for each stage
            "SEAMARK_URL": url,
            # A separate folder: the demo must not deliver data of other jobs, nor they
            # its data.
            "SEAMARK_SPOOL": str(settings.DATA_FOLDER / "spool"),
            "SEAMARK_TOKEN": make_token(
                found_installation(),
                "the demo",
                Scope.MANAGE,
                expires_at=timezone.now() + TOKEN_LIFETIME,
            ),
        }
        with subprocess.Popen(
            [sys.executable, str(ROOT / "examples/ladder.py"), "--epochs", str(epochs)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None  # requested with PIPE
            last = ""
            try:
                for line in process.stdout:
                    self.say(last.rstrip()) if last else None
                    last = line
            finally:
                process.terminate()
        if process.returncode:
            self.say(last.rstrip())
            raise Refusal("The example pipeline failed; see its output above.")
        return last.strip().rstrip("/").rpartition("/")[2]

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def wait_for_diagnoses(self, ladder_id: str) -> None:
        """Wait until there is no background work for the ladder's runs."""
        runs = [rung.run_id for rung in ladder_rungs(read(ladder_id))]
        deadline = time.monotonic() + DIAGNOSIS_SECONDS
        while has_work(runs) and time.monotonic() < deadline:
            time.sleep(0.5)

    def print_rungs(self, ladder_id: str) -> None:
        ladder = read_ladder(read(ladder_id))
        self.say("")
        for line in rung_table(ladder):
            self.say(line)
        if ladder.climb:
            self.say(
                f"\nFrom the first run to the last: {ladder.climb.change.sentence}."
            )


def sign_in_link(url: str, page: str) -> str:
    secret = make_sign_in_link(found_installation().user)
    path = reverse("sign-in-link", args=[secret])
    return f"{url}{path}?{urlencode({'next': page})}"


def read(ladder_id: str) -> Ladder:
    return Ladder.objects.get(id=ladder_id)


def has_work(run_ids: list[UUID]) -> bool:
    is_due, under_way = Q(due_at__isnull=False), Q(leased_until__isnull=False)
    return Work.objects.filter(is_due | under_way, run__in=run_ids).exists()


def rung_table(ladder: LadderView) -> list[str]:
    """Return a ladder as lines of text; unknown values are dashes."""
    rows = [
        (
            "run",
            "ms/step",
            "data wait",
            "examples/s",
            "vs. previous run",
            "main finding",
        )
    ]
    for rung in ladder.rungs:
        steps = rung.breakdown
        rows.append(
            (
                rung.run_name,
                f"{steps.mean_step_seconds * 1000:.1f}" if steps else DASH,
                f"{steps.data_wait_share:.0%}" if steps else DASH,
                f"{steps.examples_per_second:.0f}"
                if steps and steps.examples_per_second
                else DASH,
                rung.against_previous.sentence
                if rung.against_previous
                else (rung.why_no_change or "baseline"),
                main_finding(rung.run_id),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def main_finding(run_id: UUID) -> str:
    found = main_findings([run_id]).get(run_id)
    return found.title if found else DASH
