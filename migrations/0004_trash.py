"""Runs that are pinned, and runs that are being deleted."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tracker", "0003_attribute_indexes")]

    operations: ClassVar = [
        migrations.AddField("run", "purging_at", models.DateTimeField(null=True)),
        migrations.AddField("run", "pinned_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "work",
            "kind",
            models.CharField(
                choices=[
                    ("compact", "Compact"),
                    ("diagnose", "Diagnose"),
                    ("purge", "Purge"),
                ],
                max_length=10,
            ),
        ),
    ]
