"""An index of string sets, in the fastest form of each database."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement


class SetIndex(models.Index):
    """Finds the sets that contain a string; its last field is the set.

    PostgreSQL looks the string up. SQLite cannot, but scans the index, which is much
    faster than scanning the table.
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
