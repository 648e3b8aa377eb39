"""Gathers what there is of every run; a step is a transaction, and may be taken twice."""

import json
from collections import defaultdict

from django.db import connection, migrations, transaction
from django.db.models import Q

RUNS_AT_ONCE = 500

KNOWN = (
    *("useful", "data_wait", "communication", "copy", "boundary", "evaluation"),
    *("checkpoint", "initialisation", "idle", "lost"),
)
IDLE = (
    "data_wait",
    "communication",
    "copy",
    "boundary",
    "checkpoint",
    "initialisation",
    "idle",
)
SEVERITIES = ("notice", "warning", "critical")
BUSY, AVAILABLE = "/job/cpu_cores", "/facts/effective_cores"
OF_GPUS = Q(path__contains="/gpu/", path__endswith="/utilization_percent")
OF_CPUS = (Q(path__endswith=BUSY) | Q(path__endswith=AVAILABLE)) & ~Q(
    path__contains="/rank-"
)


def gather(apps, _):
    """Go on behind the last run of each step, so that none is looked at again."""
    runs = apps.get_model("tracker", "Run").objects.order_by("id")
    gathered = apps.get_model("tracker", "Gathered").objects
    last = None
    while True:
        some = runs if last is None else runs.filter(id__gt=last)
        step = list(some.values("id", "project_id", "created_at")[:RUNS_AT_ONCE])
        if not step:
            return
        last = step[-1]["id"]
        with transaction.atomic():
            there = set(
                gathered.filter(run_id__in=[run["id"] for run in step]).values_list(
                    "run_id", flat=True
                )
            )
            gather_step(apps, [run for run in step if run["id"] not in there])


def gather_step(apps, runs):
    ids = [run["id"] for run in runs]
    found = defaultdict(dict)
    for source in (hardware, gpu_time, findings, stages, tags):
        for run_id, columns in source(apps, ids):
            found[run_id] |= columns
    model = apps.get_model("tracker", "Gathered")
    model.objects.bulk_create(
        [
            model(
                run_id=run["id"],
                project_id=run["project_id"],
                created_at=run["created_at"],
                **found[run["id"]],
            )
            for run in runs
        ],
        ignore_conflicts=True,
    )


def hardware(apps, ids):
    rows = apps.get_model("tracker", "Attribute").objects.filter(
        OF_GPUS | OF_CPUS, run_id__in=ids, path__startswith="monitoring/"
    )
    gpus, cpus = defaultdict(list), defaultdict(dict)
    for run_id, path, *numbers in rows.values_list(
        "run_id", "path", "total", "finite_count", "number"
    ):
        if path.endswith("/utilization_percent"):
            gpus[run_id].append(numbers)
        else:
            cpus[run_id][path] = numbers
    for run_id, of_run in gpus.items():
        count = sum(numbers[1] for numbers in of_run)
        if count:
            yield run_id, {"gpu": sum(numbers[0] for numbers in of_run) / count}
    for run_id, of_run in cpus.items():
        busy = count = 0
        for path, (total, watched, _) in of_run.items():
            cores = path.endswith(BUSY) and of_run.get(
                path.removesuffix(BUSY) + AVAILABLE
            )
            if cores and cores[2] is not None and cores[2] > 0:
                busy += 100 * total / cores[2]
                count += watched
        if count:
            yield run_id, {"cpu": busy / count}


def gpu_time(apps, ids):
    rows = apps.get_model("tracker", "Diagnosis").objects.filter(
        run_id__in=ids, ledger__isnull=False
    )
    held = defaultdict(list)
    for run_id, ledger in rows.values_list("run_id", "ledger"):
        if ledger and ledger.get("gpus"):
            held[run_id].append(ledger)
    for run_id, ledgers in held.items():
        known, idle, unknown = (
            sum(ledger.get(use) or 0.0 for ledger in ledgers for use in uses)
            for uses in (KNOWN, IDLE, ("unknown",))
        )
        energy = [
            ledger["energy_joules"]
            for ledger in ledgers
            if ledger.get("energy_joules") is not None
        ]
        total = known + unknown
        if total > 0:
            yield (
                run_id,
                {
                    "gpu_hours": total / 3_600,
                    "gpu_idle": 100 * idle / total if known > 0 else None,
                    "energy": sum(energy) if energy else None,
                },
            )


def findings(apps, ids):
    rows = apps.get_model("tracker", "Finding").objects.filter(
        run_id__in=ids, is_open=True, is_primary=True, dismissed_at=None
    )
    told = rows.values_list("run_id", "severity", "confidence", "id", "title")
    for run_id, severity, *_, title in sorted(
        told, key=lambda row: (SEVERITIES.index(row[1]), *row[2:4])
    ):
        yield run_id, {"severity": SEVERITIES.index(severity), "finding": title}


def stages(apps, ids):
    count = defaultdict(int)
    for run_id in (
        apps.get_model("tracker", "Stage")
        .objects.filter(run_id__in=ids)
        .values_list("run_id", flat=True)
    ):
        count[run_id] += 1
        yield run_id, {"stages": count[run_id]}


def tags(apps, ids):
    rows = apps.get_model("tracker", "Attribute").objects.filter(
        run_id__in=ids, path="tags", items__isnull=False
    )
    for run_id, items in rows.values_list("run_id", "items"):
        yield (
            run_id,
            {
                "tags": items,
                "tags_beginning": json.dumps(items, ensure_ascii=False)[:100],
            },
        )


def count_rows(_, editor):
    """Have PostgreSQL's planner know the table, whose janitor comes later."""
    if connection.vendor == "postgresql":
        editor.execute("ANALYZE tracker_gathered")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("tracker", "0029_gathered"),
    ]

    operations = [
        migrations.RunPython(gather, migrations.RunPython.noop),
        migrations.RunPython(count_rows, migrations.RunPython.noop),
    ]
