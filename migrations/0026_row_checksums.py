from django.db import migrations, models

INDEX = "CREATE INDEX chunk_by_step ON tracker_serieschunk (run_id, series_id, first_step{more})"


def index_checksums(apps, schema_editor):
    """Have SQLite find checksums in the index that charts read.

    In the table it would look for them behind all of a row's bytes, page after page.
    """
    _replace_index(schema_editor, ", id, checksum")


def index_steps(apps, schema_editor):
    _replace_index(schema_editor, "")


def _replace_index(schema_editor, more):
    # PostgreSQL keeps the bytes elsewhere.
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP INDEX chunk_by_step")
        schema_editor.execute(INDEX.format(more=more))


class Migration(migrations.Migration):
    """Rows of chunks have a checksum; those that are there go without one."""

    dependencies = [
        ("tracker", "0025_writers"),
    ]

    operations = [
        migrations.AddField("serieschunk", "checksum", models.IntegerField(null=True)),
        migrations.RunPython(index_checksums, index_steps),
    ]
