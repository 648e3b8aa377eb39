from django.db import migrations, models


class Migration(migrations.Migration):
    """A run's duration is the time in which processes ran, not the time to its end."""

    dependencies = [
        ("tracker", "0037_value_none"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="active_seconds",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="active_since",
            field=models.DateTimeField(null=True),
        ),
    ]
