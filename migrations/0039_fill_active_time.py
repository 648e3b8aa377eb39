"""Adds up the time of every run; each step is a transaction and can be repeated."""

from collections import defaultdict
from datetime import timedelta

from django.db import migrations, transaction

RUNS_AT_ONCE = 500


def fill(apps, _):
    runs = (
        apps.get_model("tracker", "Run")
        .objects.filter(started_at__isnull=False)
        .order_by("id")
    )
    last = None
    while True:
        some = runs if last is None else runs.filter(id__gt=last)
        step = list(some.only("id")[:RUNS_AT_ONCE])
        if not step:
            return
        last = step[-1].id
        with transaction.atomic():
            fill_step(apps, step)


def fill_step(apps, runs):
    spools = apps.get_model("tracker", "Spool").objects.filter(
        run_id__in=[run.id for run in runs]
    )
    processes = defaultdict(list)
    for run_id, *process in spools.values_list(
        "run_id", "state", "started_at", "ended_at", "last_seen_at"
    ):
        processes[run_id].append(process)
    for run in runs:
        of_run = processes[run.id]
        run.active_since = min(
            (started for state, started, *_ in of_run if state == "running"),
            default=None,
        )
        run.active_seconds = active_seconds(
            (
                (started, ended or seen)
                for state, started, ended, seen in of_run
                if state != "running"
            ),
            run.active_since,
        )
    apps.get_model("tracker", "Run").objects.bulk_update(
        runs, ["active_seconds", "active_since"]
    )


def active_seconds(intervals, until):
    total, reached = timedelta(), None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        stop = end if until is None else min(end, until)
        total += max(stop - begin, timedelta())
        reached = stop if reached is None else max(reached, stop)
    return total.total_seconds()


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("tracker", "0038_active_time"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
