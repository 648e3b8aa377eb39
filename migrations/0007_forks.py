import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Runs continue other runs of their project from a step."""

    dependencies = [
        ("tracker", "0006_launch_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="Fork",
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
                ("step", models.FloatField()),
                ("copied_path", models.CharField(default="", max_length=1024)),
                ("is_copied", models.BooleanField(default=False)),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="fork",
                        to="tracker.run",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="tracker.run",
                    ),
                ),
            ],
        ),
    ]
