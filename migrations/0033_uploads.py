import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Count unfinished uploads against the quota of their workspace."""

    dependencies = [
        ("tracker", "0032_said_gone"),
    ]

    operations = [
        migrations.CreateModel(
            name="Upload",
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
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveBigIntegerField()),
                ("last_part_at", models.DateTimeField()),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["last_part_at"], name="upload_last_part")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "digest"), name="upload_once_per_workspace"
                    )
                ],
            },
        ),
    ]
