import django.db.models.deletion
from django.db import migrations, models

from tracker.models.set_index import SetIndex


def found_by(name, *more):
    return models.Index(
        condition=models.Q((f"{name}__isnull", False)),
        fields=["project", name, *more, "run"],
        name=f"gathered_{name}",
    )


NUMBERS = ("gpu", "cpu", "gpu_idle", "gpu_hours", "energy")


class Migration(migrations.Migration):
    """What many rows of a run say together is kept in one; see 0030 for runs there are."""

    dependencies = [
        ("tracker", "0028_bulk_changes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Gathered",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("created_at", models.DateTimeField()),
                *((name, models.FloatField(null=True)) for name in NUMBERS),
                ("severity", models.PositiveSmallIntegerField(null=True)),
                ("finding", models.CharField(max_length=300, null=True)),
                ("stages", models.PositiveIntegerField(null=True)),
                ("tags", models.JSONField(null=True)),
                ("tags_beginning", models.CharField(max_length=100, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gathered",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    *(found_by(name) for name in NUMBERS),
                    found_by("severity", "created_at"),
                    found_by("stages", "created_at"),
                    found_by("finding"),
                    found_by("tags_beginning"),
                    SetIndex(
                        condition=models.Q(tags__isnull=False),
                        fields=["project", "run", "tags"],
                        name="gathered_tags",
                    ),
                ],
            },
        ),
        # What this takes the place of.
        migrations.RemoveIndex("diagnosis", "diagnosis_gpu_time"),
        *(
            migrations.RemoveField("diagnosis", name)
            for name in (
                "gpu_seconds",
                "gpu_known_seconds",
                "gpu_idle_seconds",
                "gpu_joules",
            )
        ),
    ]
