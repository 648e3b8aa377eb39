from django.db import migrations, models


class Migration(migrations.Migration):
    """Processes that others of their run have started are told apart."""

    dependencies = [
        ("tracker", "0030_gather_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="spool",
            name="is_helper",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
