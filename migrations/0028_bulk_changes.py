import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """What was done to many runs is kept for a while, so that it can be undone."""

    dependencies = [
        ("tracker", "0027_gpu_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkChange",
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
                ("name", models.UUIDField()),
                ("run_ids", models.JSONField(default=list)),
                ("is_last", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "name"], name="bulk_change_name"),
                    models.Index(fields=["made_at"], name="bulk_change_made"),
                ],
            },
        ),
    ]
