"""The role "editor" is called "member", and scopes of keys "log" and "manage"."""

from django.db import migrations

ROLES = {"editor": "member"}
SCOPES = {"ingest": "log", "full": "manage"}


def rename(apps, _schema_editor):
    _rename(apps, ROLES, SCOPES)


def rename_back(apps, _schema_editor):
    _rename(
        apps,
        {new: old for old, new in ROLES.items()},
        {new: old for old, new in SCOPES.items()},
    )


def _rename(apps, roles, scopes):
    members = apps.get_model("tracker", "Member").objects
    tokens = apps.get_model("tracker", "Token").objects
    for before, after in roles.items():
        members.filter(role=before).update(role=after)
    for before, after in scopes.items():
        tokens.filter(scope=before).update(scope=after)


class Migration(migrations.Migration):
    dependencies = [("tracker", "0041_people")]
    operations = [migrations.RunPython(rename, rename_back)]
