"""Renames the categories of stored time breakdowns; a step may run twice."""

from collections import defaultdict

from django.db import migrations, transaction

ROWS_AT_ONCE = 500
# Steps counted as useful without a measurement of the GPU. The next diagnosis splits them.
RENAMED = {"useful": "unattributed", "initialisation": "initialization"}
IDLE = (
    "data_wait",
    "communication",
    "copy",
    "boundary",
    "checkpoint",
    "initialization",
    "idle",
)
UNEXPLAINED = ("unattributed", "unknown")
NOT_SECONDS = ("gpus", "energy_joules")


def rename(apps, _):
    rows = (
        apps.get_model("tracker", "Diagnosis")
        .objects.filter(ledger__isnull=False)
        .order_by("id")
    )
    last = 0
    while step := list(rows.filter(id__gt=last)[:ROWS_AT_ONCE]):
        last = step[-1].id
        old = [row for row in step if row.ledger and RENAMED.keys() & row.ledger.keys()]
        for row in old:
            row.ledger = {
                RENAMED.get(key, key): value for key, value in row.ledger.items()
            }
        with transaction.atomic():
            rows.model.objects.bulk_update(old, ["ledger"])
            gather_idle(apps, rows, {row.run_id for row in old})


def gather_idle(apps, rows, run_ids):
    """Bring the column of the runs table up to date."""
    held = defaultdict(list)
    for run_id, ledger in rows.filter(run_id__in=run_ids).values_list(
        "run_id", "ledger"
    ):
        if ledger.get("gpus"):
            held[run_id].append(ledger)
    for run_id, ledgers in held.items():
        idle, unexplained, total = (
            sum(
                value or 0.0
                for each in ledgers
                for key, value in each.items()
                if key in keys
            )
            for keys in (
                IDLE,
                UNEXPLAINED,
                set().union(*ledgers).difference(NOT_SECONDS),
            )
        )
        known = total > 0 and unexplained <= total / 2
        gathered = apps.get_model("tracker", "Gathered").objects.filter(run_id=run_id)
        gathered.update(gpu_idle=100 * idle / total if known else None)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("tracker", "0034_heartbeats"),
    ]

    operations = [
        migrations.RunPython(rename, migrations.RunPython.noop),
    ]
