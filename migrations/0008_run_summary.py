import django.db.models.deletion
from django.db import migrations, models

INDEXES = (
    "gpu",
    "cpu",
    "gpu_idle",
    "gpu_hours",
    "energy",
    "severity",
    "stages",
    "finding",
    "tags_beginning",
    "tags",
)


class Migration(migrations.Migration):
    """The table of run summaries has the name of its subject."""

    dependencies = [
        ("tracker", "0007_forks"),
    ]

    operations = [
        migrations.RenameModel("Gathered", "RunSummary"),
        *(
            migrations.RenameIndex(
                "RunSummary", old_name=f"gathered_{name}", new_name=f"summary_{name}"
            )
            for name in INDEXES
        ),
        migrations.AlterField(
            "RunSummary",
            "run",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="summary",
                to="tracker.run",
            ),
        ),
    ]
