from django.db import migrations, models


class Migration(migrations.Migration):
    """It is known since when others say of a process that it is gone."""

    dependencies = [
        ("tracker", "0031_helpers"),
    ]

    operations = [
        migrations.AddField(
            model_name="spool",
            name="said_gone_at",
            field=models.DateTimeField(null=True),
        ),
    ]
