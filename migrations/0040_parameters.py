from django.db import migrations, models
from django.db.models import Q

# As tracker/queries/namespaces.py had them.
NAMESPACES = (
    *("params", "param", "parameters", "config", "configs", "configuration", "cfg"),
    *("hparams", "hyperparams", "hyperparameters", "args", "arguments"),
    *("settings", "options"),
)
KINDS = ("float", "integer", "boolean", "string", "datetime", "string_set")


def mark_parameters(apps, schema_editor):
    """Mark the values that are parameters by their path."""
    is_named = Q()
    for name in NAMESPACES:
        is_named |= Q(path__istartswith=f"{name}/") | Q(path__icontains=f"/{name}/")
    attributes = apps.get_model("tracker", "Attribute").objects
    attributes = attributes.using(schema_editor.connection.alias)
    singles = attributes.filter(is_named, kind__in=KINDS)
    singles.exclude(path__startswith="monitoring/").update(is_parameter=True)


class Migration(migrations.Migration):
    """Single values record whether they are parameters."""

    dependencies = [
        ("tracker", "0039_fill_active_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="attribute",
            name="is_parameter",
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(mark_parameters, migrations.RunPython.noop, elidable=True),
    ]
