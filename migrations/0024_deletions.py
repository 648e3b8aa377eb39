import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

INDEXES = {
    "Ladder": "ladder_deleted",
    "Dashboard": "dashboard_deleted",
    "Report": "report_deleted",
    "SavedView": "view_deleted",
    "Annotation": "annotation_deleted",
}
# What refers to a row goes before it.
PURGE = [
    *(
        f"DELETE FROM tracker_{part} WHERE {whole}_id IN"
        f" (SELECT id FROM tracker_{whole} WHERE deleted_at IS NOT NULL)"
        for part, whole in (
            ("rung", "ladder"),
            ("reportversion", "report"),
            ("reportdraft", "report"),
            ("reportcomment", "report"),
        )
    ),
    "DELETE FROM tracker_reportcomment WHERE deleted_at IS NOT NULL AND thread_id IS NOT NULL",
    "DELETE FROM tracker_reportcomment WHERE deleted_at IS NOT NULL AND id NOT IN"
    " (SELECT thread_id FROM tracker_reportcomment WHERE thread_id IS NOT NULL)",
    "UPDATE tracker_reportcomment SET text = '' WHERE deleted_at IS NOT NULL",
    *(
        f"DELETE FROM tracker_{name.lower()} WHERE deleted_at IS NOT NULL"
        for name in INDEXES
    ),
]


def deleted_by():
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


def purge(apps, schema_editor):
    """Delete what lies in the trash, which earlier versions would show."""
    if schema_editor.connection.vendor == "postgresql":
        # Tables cannot be altered while keys that refer to their rows are to be checked.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for statement in PURGE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    """What people make is kept for a while after it was deleted."""

    dependencies = [
        ("tracker", "0023_report_comments"),
    ]

    operations = [
        *(
            migrations.AddField(name, "deleted_at", models.DateTimeField(null=True))
            for name in INDEXES
        ),
        *(
            migrations.AddField(name, "deleted_by", deleted_by())
            for name in (*INDEXES, "ReportComment")
        ),
        migrations.RemoveConstraint("ladder", "ladder_name_once_per_project"),
        migrations.RemoveConstraint("dashboard", "dashboard_name_once_per_project"),
        migrations.RemoveConstraint("savedview", "view_name_once_per_owner"),
        migrations.RemoveConstraint("savedview", "view_default_once_per_project"),
        migrations.AddConstraint(
            "ladder",
            models.UniqueConstraint(
                condition=models.Q(("deleted_at", None)),
                fields=("project", "name"),
                name="ladder_name_once_per_project",
            ),
        ),
        migrations.AddConstraint(
            "dashboard",
            models.UniqueConstraint(
                condition=models.Q(("deleted_at", None)),
                fields=("project", "name"),
                name="dashboard_name_once_per_project",
            ),
        ),
        migrations.AddConstraint(
            "savedview",
            models.UniqueConstraint(
                condition=models.Q(("deleted_at", None)),
                fields=("project", "owner", "name"),
                name="view_name_once_per_owner",
            ),
        ),
        migrations.AddConstraint(
            "savedview",
            models.UniqueConstraint(
                condition=models.Q(("deleted_at", None), ("is_default", True)),
                fields=("project",),
                name="view_default_once_per_project",
            ),
        ),
        *(
            migrations.AddIndex(
                name,
                models.Index(
                    condition=models.Q(("deleted_at__isnull", False)),
                    fields=["deleted_at"],
                    name=index,
                ),
            )
            for name, index in INDEXES.items()
        ),
        migrations.AddIndex(
            "reportcomment",
            models.Index(
                condition=models.Q(
                    ("deleted_at__isnull", False), models.Q(("text", ""), _negated=True)
                ),
                fields=["deleted_at"],
                name="report_comment_deleted",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, purge),
    ]
