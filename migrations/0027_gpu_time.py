from django.db import migrations, models
from django.db.models import Case, FloatField, GeneratedField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, NullIf
from django.db.models.lookups import GreaterThan

IDLE = (
    "data_wait",
    "communication",
    "copy",
    "boundary",
    "checkpoint",
    "initialisation",
    "idle",
)
KNOWN = (
    *("useful", "data_wait", "communication", "copy", "boundary", "evaluation"),
    *("checkpoint", "initialisation", "idle", "lost"),
)
USES = (*KNOWN, "unknown")


def number(key):
    return Cast(NullIf(KeyTextTransform(key, "ledger"), Value("null")), FloatField())


def seconds(uses):
    return sum((Coalesce(number(use), Value(0.0)) for use in uses), Value(0.0))


def where_held(value):
    held = When(GreaterThan(number("gpus"), Value(0.0)), then=value)
    return GeneratedField(
        db_persist=True,
        expression=Case(held, output_field=FloatField()),
        output_field=FloatField(null=True),
    )


COLUMNS = {
    "gpu_seconds": seconds(USES),
    "gpu_known_seconds": seconds(KNOWN),
    "gpu_idle_seconds": seconds(IDLE),
    "gpu_joules": number("energy_joules"),
}


class Migration(migrations.Migration):
    """What a ledger says of GPUs is computed by the database, as columns that are found by."""

    dependencies = [
        ("tracker", "0026_row_checksums"),
    ]

    operations = [
        *(
            migrations.AddField("diagnosis", name, where_held(value))
            for name, value in COLUMNS.items()
        ),
        migrations.AddIndex(
            "diagnosis",
            models.Index(
                condition=models.Q(gpu_seconds__isnull=False),
                fields=["run", *COLUMNS],
                name="diagnosis_gpu_time",
            ),
        ),
    ]
