from django.db import migrations, models


class Migration(migrations.Migration):
    """A share link may show a dashboard or a report as it was when it was made."""

    dependencies = [
        ("tracker", "0021_run_page"),
    ]

    operations = [
        migrations.AddField(
            model_name="sharelink",
            name="frozen",
            field=models.JSONField(null=True),
        ),
    ]
