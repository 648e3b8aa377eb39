from django.db import migrations, models


class Migration(migrations.Migration):
    """A value can be none."""

    dependencies = [
        ("tracker", "0036_reopenings"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attribute",
            name="kind",
            field=models.CharField(
                choices=[
                    ("float", "Float"),
                    ("integer", "Integer"),
                    ("boolean", "Boolean"),
                    ("string", "String"),
                    ("datetime", "Datetime"),
                    ("string_set", "String Set"),
                    ("none", "None"),
                    ("float_series", "Float Series"),
                    ("text_series", "Text Series"),
                    ("histogram_series", "Histogram Series"),
                    ("image_series", "Image Series"),
                    ("file", "File"),
                ],
                max_length=16,
            ),
        ),
    ]
