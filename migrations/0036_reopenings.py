import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Record who joins a finished run, and close what it held to tokens that may only log."""

    dependencies = [
        ("tracker", "0035_time_breakdown"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="is_resumable",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="spool",
            name="closed_attributes",
            field=models.BigIntegerField(null=True),
        ),
        migrations.CreateModel(
            name="Reopening",
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
                ("may_change", models.BooleanField()),
                ("is_new_stage", models.BooleanField()),
                ("joined_at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reopenings",
                        to="tracker.run",
                    ),
                ),
                (
                    "spool",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reopening",
                        to="tracker.spool",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="tracker.token",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
