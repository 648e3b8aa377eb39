from django.db import migrations, models


class Migration(migrations.Migration):
    """A series can hold files: sounds, videos, tables."""

    dependencies = [
        ("tracker", "0003_carbon_intensity"),
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
                    ("file_series", "File Series"),
                    ("file", "File"),
                ],
                max_length=16,
            ),
        ),
    ]
