from django.db import migrations, models


class Migration(migrations.Migration):
    """What a run's first page shows is kept, instead of being worked out each time."""

    dependencies = [
        ("tracker", "0020_share_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="diagnosis",
            name="median_step_seconds",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="diagnosis",
            name="data_wait_share",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="key_metrics",
            field=models.JSONField(default=list),
        ),
    ]
