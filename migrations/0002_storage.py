"""Partitions, storage and indexes that models cannot express."""

from django.db import migrations

from migrations._storage import arrange


class Migration(migrations.Migration):
    replaces = [("tracker", "0026_row_checksums")]

    dependencies = [("tracker", "0001_schema")]

    operations = [migrations.RunPython(arrange, migrations.RunPython.noop)]
