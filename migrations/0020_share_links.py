import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tracker", "0019_dashboards_and_reports"),
    ]

    operations = [
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("thing", models.CharField(max_length=1000)),
                ("query", models.CharField(default="", max_length=4000)),
                ("parts", models.JSONField(default=list)),
                ("label", models.CharField(default="", max_length=200)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("prefix", models.CharField(max_length=16)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("last_opened_at", models.DateTimeField(null=True)),
                ("open_count", models.PositiveBigIntegerField(default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="share_links",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "-made_at"], name="share_link_newest"
                    ),
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=["kind", "thing"],
                        name="share_link_of_thing",
                    ),
                ],
            },
        ),
    ]
