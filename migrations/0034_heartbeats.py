from django.db import migrations, models


class Migration(migrations.Migration):
    """Background processes report that they run."""

    dependencies = [
        ("tracker", "0033_uploads"),
    ]

    operations = [
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                (
                    "role",
                    models.CharField(
                        choices=[("worker", "Worker"), ("scheduler", "Scheduler")],
                        max_length=10,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("beat_at", models.DateTimeField()),
            ],
        ),
    ]
