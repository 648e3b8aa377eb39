"""An index of sets of strings, of the kind that each database is quick with."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement


class SetIndex(models.Index):
    """Finds the sets that hold a string: its last field is the one with the sets.

    PostgreSQL looks the string up. SQLite cannot, and reads the sets one after the
    other from the index, which is still far quicker than from the table.
    """

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **options: Any,
    ) -> Statement:
        if schema_editor.connection.vendor != "postgresql":
            return super().create_sql(model, schema_editor, using, **options)
        strings = GinIndex(
            fields=self.fields[-1:],
            opclasses=["jsonb_path_ops"],
            name=self.name,
            condition=self.condition,
        )
        return strings.create_sql(model, schema_editor, using, **options)
