from django.db import migrations, models


class Migration(migrations.Migration):
    """A run can be a part of another run of its project."""

    dependencies = [
        ("tracker", "0004_file_series"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="parent",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=models.SET_NULL,
                related_name="children",
                to="tracker.run",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("parent__isnull", False)),
                fields=["project", "parent"],
                name="run_children",
            ),
        ),
    ]
