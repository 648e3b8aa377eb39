from django.db import migrations, models


class Migration(migrations.Migration):
    """Scripts that start again under a name begin another run."""

    dependencies = [
        ("tracker", "0005_nested_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="launch_name",
            field=models.CharField(db_default="", default="", max_length=255),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("launch_name", ""), _negated=True),
                fields=["project", "launch_name"],
                name="run_launches",
            ),
        ),
    ]
