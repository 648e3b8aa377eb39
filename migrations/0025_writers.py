from django.db import migrations, models


class Migration(migrations.Migration):
    """Series know which processes log to them at the same time."""

    dependencies = [
        ("tracker", "0024_deletions"),
    ]

    operations = [
        migrations.AddField("attribute", "writer", models.UUIDField(null=True)),
        migrations.AddField("attribute", "writers", models.JSONField(null=True)),
    ]
