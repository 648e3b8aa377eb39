"""Diagnoses runs again, after an upgrade or a change of a project's limits."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from tracker.actions.diagnoses.rediagnoses import Done, diagnose_again, runs_of

EVERY_SECONDS = 2.0


class Command(BaseCommand):
    help = "Diagnose runs again with the current rules."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", default="", help="slug or name of a project")
        parser.add_argument("--run", type=UUID, help="id of a run")
        parser.add_argument(
            "--older-than-rules",
            action="store_true",
            help="only runs that were never diagnosed, or with other rules or limits",
        )
        parser.add_argument("--all", action="store_true", help="runs of all projects")
        parser.add_argument(
            "--after",
            type=UUID,
            help="continue after this run, as printed by an interrupted call",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not any(options[o] for o in ("project", "run", "older_than_rules", "all")):
            sys.exit("Select runs with --project, --run, --older-than-rules or --all.")
        runs = runs_of(project=options["project"], run_id=options["run"])
        after = options["after"]
        count = (runs if after is None else runs.filter(id__gt=after)).count()
        if not count:
            sys.exit("No runs match.")

        done: Counter[Done] = Counter()
        reported_at = time.monotonic()
        try:
            for each in diagnose_again(
                runs, only_outdated=options["older_than_rules"], after=after
            ):
                done[each.done] += 1
                after = each.run_id
                if each.done is Done.FAILED:
                    self.stdout.write(f"{each.run_id} {each.name}: failed; see the log")
                if time.monotonic() - reported_at >= EVERY_SECONDS:
                    self.stdout.write(f"{done.total()} of {count} runs, {each.name}")
                    reported_at = time.monotonic()
        except KeyboardInterrupt:
            sys.exit(f"Stopped. To continue, add: --after {after}")
        self.stdout.write(
            f"{done[Done.DIAGNOSED]} diagnosed, {done[Done.UP_TO_DATE]} up to date,"
            f" {done[Done.FAILED]} failed."
        )
        if done[Done.FAILED]:
            sys.exit(1)
