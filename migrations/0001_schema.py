"""The schema of version 0.1.0."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import tracker.models.set_index
import uuid
from django.conf import settings
from django.db import migrations, models

# Applied on databases that were made before this file replaced them.
REPLACED = (
    "0001_initial",
    "0002_store",
    "0003_attribute_indexes",
    "0004_trash",
    "0005_silent_spools",
    "0006_vacuum",
    "0007_records",
    "0008_files",
    "0009_image_series",
    "0010_alerts",
    "0011_preempted",
    "0012_rewinds",
    "0013_dismissals",
    "0014_ledger",
    "0015_rule_settings",
    "0016_rules_version",
    "0017_saved_views",
    "0018_charts",
    "0019_dashboards_and_reports",
    "0020_share_links",
    "0021_run_page",
    "0022_frozen_shares",
    "0023_report_comments",
    "0024_deletions",
    "0025_writers",
    "0027_gpu_time",
    "0028_bulk_changes",
    "0029_gathered",
    "0030_gather_runs",
    "0031_helpers",
    "0032_said_gone",
    "0033_uploads",
    "0034_heartbeats",
    "0035_time_breakdown",
    "0036_reopenings",
    "0037_value_none",
    "0038_active_time",
    "0039_fill_active_time",
    "0040_parameters",
    "0041_people",
    "0042_rename_roles",
    "0043_mail",
    "0044_notifications",
    "0045_metric_rules",
    "0046_cache",
    "0047_run_comments",
    "0048_mailed_invitations",
    "0049_project_deleted",
    "0050_channel_services",
    "0051_require_second_factor",
    "0052_confirm_addresses",
)


class Migration(migrations.Migration):
    replaces = [("tracker", name) for name in REPLACED]
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
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
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(
                        blank=True, null=True, verbose_name="last login"
                    ),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={
                            "unique": "A user with that username already exists."
                        },
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[
                            django.contrib.auth.validators.UnicodeUsernameValidator()
                        ],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(
                        blank=True, max_length=150, verbose_name="first name"
                    ),
                ),
                (
                    "last_name",
                    models.CharField(
                        blank=True, max_length=150, verbose_name="last name"
                    ),
                ),
                (
                    "email",
                    models.EmailField(
                        blank=True, max_length=254, verbose_name="email address"
                    ),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                ("name", models.CharField(db_default="", default="", max_length=150)),
                (
                    "pending_email",
                    models.EmailField(db_default="", default="", max_length=254),
                ),
                ("is_service", models.BooleanField(db_default=False, default=False)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"),
                        condition=models.Q(("email", ""), _negated=True),
                        name="user_email_once",
                    )
                ],
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                (
                    "cache_key",
                    models.CharField(max_length=255, primary_key=True, serialize=False),
                ),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                (
                    "role",
                    models.CharField(
                        choices=[("worker", "Worker"), ("scheduler", "Scheduler")],
                        max_length=10,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("beat_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Workspace",
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
                ("name", models.CharField(max_length=200)),
                ("slug", models.SlugField(max_length=200, unique=True)),
                ("description", models.TextField(db_default="", default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retention_days", models.PositiveIntegerField(null=True)),
                ("gpu_hour_price", models.FloatField(null=True)),
                ("currency", models.CharField(db_default="", default="", max_length=8)),
                (
                    "projects_are_open",
                    models.BooleanField(db_default=True, default=True),
                ),
                (
                    "requires_second_factor",
                    models.BooleanField(db_default=False, default=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="NotificationSettings",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notification_settings",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("mail_kinds", models.JSONField(default=list)),
                ("webhook_kinds", models.JSONField(default=list)),
                (
                    "mail_schedule",
                    models.CharField(
                        choices=[("now", "Now"), ("daily", "Daily")],
                        default="now",
                        max_length=10,
                    ),
                ),
                ("time_zone", models.CharField(default="", max_length=64)),
                ("webhook_service", models.CharField(default="", max_length=20)),
                ("webhook_address", models.CharField(default="", max_length=500)),
                ("webhook_secret", models.CharField(default="", max_length=64)),
                ("leased_until", models.DateTimeField(null=True)),
                ("paused_until", models.DateTimeField(null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
            ],
        ),
        migrations.CreateModel(
            name="Mail",
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
                ("to", models.EmailField(max_length=254)),
                ("subject", models.CharField(max_length=300)),
                ("text", models.TextField()),
                ("html", models.TextField(default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["due_at"],
                        name="mail_due",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("viewer", "Viewer"),
                            ("guest", "Guest"),
                        ],
                        max_length=10,
                    ),
                ),
                ("is_active", models.BooleanField(db_default=True, default=True)),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        related_query_name="member",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "user"), name="member_once_per_workspace"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Project",
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
                ("name", models.CharField(max_length=200)),
                ("slug", models.SlugField(max_length=200)),
                ("description", models.TextField(db_default="", default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("is_open", models.BooleanField(db_default=True, default=True)),
                ("archived_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                ("retention_days", models.PositiveIntegerField(null=True)),
                ("gpu_hour_price", models.FloatField(null=True)),
                ("currency", models.CharField(default="", max_length=8)),
                ("rule_settings", models.JSONField(default=dict)),
                ("key_metrics", models.JSONField(default=list)),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="projects",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "slug"),
                        name="project_slug_once_per_workspace",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Ladder",
            fields=[
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
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
                        related_name="ladders",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="ladder_deleted",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("deleted_at", None)),
                        fields=("project", "name"),
                        name="ladder_name_once_per_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Dashboard",
            fields=[
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("content", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
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
                        related_name="dashboards",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="dashboard_deleted",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("deleted_at", None)),
                        fields=("project", "name"),
                        name="dashboard_name_once_per_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ChartArrangement",
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
                ("body", models.JSONField(default=dict)),
                ("changed_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "user"),
                        name="chart_arrangement_once_per_user",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Channel",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("email", "Email"),
                            ("webhook", "Webhook"),
                            ("slack", "Slack"),
                            ("mattermost", "Mattermost"),
                            ("teams", "Teams"),
                            ("discord", "Discord"),
                        ],
                        max_length=10,
                    ),
                ),
                ("address", models.CharField(max_length=500)),
                ("secret", models.CharField(default="", max_length=64)),
                ("severity", models.CharField(max_length=10)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("paused_until", models.DateTimeField(null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="channels",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "kind", "address"),
                        name="channel_once_per_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BulkChange",
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
                ("name", models.UUIDField()),
                ("run_ids", models.JSONField(default=list)),
                ("is_last", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "name"], name="bulk_change_name"),
                    models.Index(fields=["made_at"], name="bulk_change_made"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProjectMember",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("viewer", "Viewer"),
                        ],
                        max_length=10,
                    ),
                ),
                ("added_at", models.DateTimeField(auto_now_add=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="projects",
                        to="tracker.member",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "member"), name="member_once_per_project"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("text", models.TextField(default="")),
                ("version", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
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
                        related_name="reports",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "-changed_at"], name="report_newest"
                    ),
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="report_deleted",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportComment",
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
                ("deleted_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField()),
                ("passage", models.CharField(default="", max_length=24)),
                ("passage_kind", models.CharField(default="", max_length=20)),
                ("quote", models.CharField(default="", max_length=400)),
                ("text", models.TextField()),
                ("written_at", models.DateTimeField()),
                ("edited_at", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="tracker.report",
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="tracker.reportcomment",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("deleted_at__isnull", False),
                            models.Q(("text", ""), _negated=True),
                        ),
                        fields=["deleted_at"],
                        name="report_comment_deleted",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportDraft",
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
                ("name", models.CharField(max_length=200)),
                ("text", models.TextField(default="")),
                ("based_on", models.PositiveIntegerField()),
                ("saved_at", models.DateTimeField(auto_now=True)),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drafts",
                        to="tracker.report",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("report", "user"), name="report_draft_once_per_user"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportVersion",
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
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("saved_at", models.DateTimeField(auto_now_add=True)),
                ("restored", models.PositiveIntegerField(null=True)),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="tracker.report",
                    ),
                ),
                (
                    "saved_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("report", "number"), name="report_version_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("crashed", "Crashed"),
                            ("preempted", "Preempted"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("active_seconds", models.FloatField(null=True)),
                ("active_since", models.DateTimeField(null=True)),
                ("last_seen_at", models.DateTimeField(auto_now_add=True)),
                ("trashed_at", models.DateTimeField(null=True)),
                ("purging_at", models.DateTimeField(null=True)),
                ("rewound_at", models.DateTimeField(null=True)),
                ("is_resumable", models.BooleanField(db_default=False, default=False)),
                ("pinned_at", models.DateTimeField(null=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        db_index=False,
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
                        related_name="runs",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-created_at"], name="run_newest"),
                    models.Index(
                        condition=models.Q(("trashed_at__isnull", True)),
                        fields=["project", "started_at", "id", "trashed_at"],
                        name="run_shown",
                    ),
                    models.Index(
                        condition=models.Q(("trashed_at__isnull", False)),
                        fields=["project", "trashed_at", "id"],
                        name="run_trashed",
                    ),
                    models.Index(fields=["state", "last_seen_at"], name="run_silent"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "name"), name="run_name_once_per_project"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Attribute",
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
                ("path", models.CharField(max_length=1024)),
                (
                    "kind",
                    models.CharField(
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
                            ("file", "File"),
                        ],
                        max_length=16,
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("is_parameter", models.BooleanField(null=True)),
                ("number", models.FloatField(null=True)),
                ("is_nan", models.BooleanField(default=False)),
                ("text", models.TextField(null=True)),
                ("items", models.JSONField(null=True)),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("finite_count", models.PositiveBigIntegerField(default=0)),
                ("minimum", models.FloatField(null=True)),
                ("maximum", models.FloatField(null=True)),
                ("total", models.FloatField(default=0.0)),
                ("first_step", models.FloatField(null=True)),
                ("last_step", models.FloatField(null=True)),
                ("first_time", models.BigIntegerField(null=True)),
                ("last_time", models.BigIntegerField(null=True)),
                ("writer", models.UUIDField(null=True)),
                ("writers", models.JSONField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attributes",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=[
                            "project",
                            "path",
                            "number",
                            "run",
                            "is_nan",
                            "count",
                            "minimum",
                            "maximum",
                            "total",
                            "finite_count",
                            "first_step",
                            "last_step",
                        ],
                        name="attribute_numbers",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("number__isnull", True), ("text__length__lte", 100)
                        ),
                        fields=["project", "path", "text", "run", "kind", "number"],
                        name="attribute_texts",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("number__isnull", True), ("text__length__gt", 100)
                        ),
                        fields=["project", "path", "run"],
                        name="attribute_long_texts",
                    ),
                    tracker.models.set_index.SetIndex(
                        condition=models.Q(("items__isnull", False)),
                        fields=["project", "path", "run", "items"],
                        name="attribute_sets",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "path"), name="attribute_path_once_per_run"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("stage", models.CharField(max_length=200)),
                ("subject", models.CharField(max_length=300)),
                ("severity", models.CharField(max_length=10)),
                ("title", models.CharField(max_length=300)),
                ("summary", models.TextField()),
                ("raised_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-raised_at"], name="alert_newest")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "stage", "subject"),
                        name="alert_once_per_subject",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rewind",
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
                ("path", models.CharField(max_length=1024)),
                ("step", models.FloatField()),
                ("time", models.BigIntegerField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "path", "time", "step"), name="rewind_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecordChunk",
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
                ("first", models.PositiveBigIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("first_step", models.FloatField()),
                ("last_step", models.FloatField()),
                ("first_time", models.BigIntegerField()),
                ("last_time", models.BigIntegerField()),
                ("value_bytes", models.PositiveIntegerField()),
                ("level", models.PositiveSmallIntegerField(default=0)),
                ("data", models.BinaryField()),
                (
                    "series",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="tracker.attribute",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("level__lt", 9)),
                        fields=["run", "series", "level"],
                        name="record_chunk_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "series", "first"), name="record_position_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("failure", "Failure"),
                            ("finding", "Finding"),
                            ("rule", "Rule"),
                            ("mention", "Mention"),
                            ("comment", "Comment"),
                        ],
                        max_length=10,
                    ),
                ),
                ("incident", models.CharField(max_length=200)),
                ("severity", models.CharField(max_length=10)),
                ("title", models.CharField(max_length=300)),
                ("summary", models.TextField()),
                ("address", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField()),
                ("read_at", models.DateTimeField(null=True)),
                ("mail_due_at", models.DateTimeField(null=True)),
                ("webhook_due_at", models.DateTimeField(null=True)),
                ("webhook_attempts", models.PositiveIntegerField(default=0)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-id"], name="notification_newest"),
                    models.Index(
                        condition=models.Q(("read_at", None)),
                        fields=["user"],
                        name="notification_unread",
                    ),
                    models.Index(
                        condition=models.Q(("mail_due_at__isnull", False)),
                        fields=["mail_due_at"],
                        name="notification_mail_due",
                    ),
                    models.Index(
                        condition=models.Q(("webhook_due_at__isnull", False)),
                        fields=["user", "webhook_due_at"],
                        name="notification_webhook_due",
                    ),
                    models.Index(fields=["project"], name="notification_project"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "incident"),
                        name="notification_once_per_incident",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MetricRule",
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
                ("path", models.CharField(max_length=1024)),
                (
                    "condition",
                    models.CharField(
                        choices=[
                            ("not-finite", "Not Finite"),
                            ("above", "Above"),
                            ("below", "Below"),
                            ("mean-above", "Mean Above"),
                            ("mean-below", "Mean Below"),
                            ("no-point", "No Point"),
                        ],
                        max_length=12,
                    ),
                ),
                ("limit", models.FloatField(null=True)),
                ("duration", models.FloatField(default=0)),
                (
                    "unit",
                    models.CharField(
                        choices=[("steps", "Steps"), ("minutes", "Minutes")],
                        default="minutes",
                        max_length=10,
                    ),
                ),
                ("is_shared", models.BooleanField(default=False)),
                ("paused_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metric_rules",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metric_rules",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metric_rules",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("paused_at", None)),
                        fields=["project"],
                        name="metric_rule_active",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MetricIncident",
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
                ("path", models.CharField(max_length=1024)),
                ("began_at", models.DateTimeField()),
                ("clear_since", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "rule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="tracker.metricrule",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("rule", "run"),
                        name="one_open_incident_per_rule_and_run",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Gathered",
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
                ("created_at", models.DateTimeField()),
                ("gpu", models.FloatField(null=True)),
                ("cpu", models.FloatField(null=True)),
                ("gpu_idle", models.FloatField(null=True)),
                ("gpu_hours", models.FloatField(null=True)),
                ("energy", models.FloatField(null=True)),
                ("severity", models.PositiveSmallIntegerField(null=True)),
                ("finding", models.CharField(max_length=300, null=True)),
                ("stages", models.PositiveIntegerField(null=True)),
                ("tags", models.JSONField(null=True)),
                ("tags_beginning", models.CharField(max_length=100, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gathered",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("gpu__isnull", False)),
                        fields=["project", "gpu", "run"],
                        name="gathered_gpu",
                    ),
                    models.Index(
                        condition=models.Q(("cpu__isnull", False)),
                        fields=["project", "cpu", "run"],
                        name="gathered_cpu",
                    ),
                    models.Index(
                        condition=models.Q(("gpu_idle__isnull", False)),
                        fields=["project", "gpu_idle", "run"],
                        name="gathered_gpu_idle",
                    ),
                    models.Index(
                        condition=models.Q(("gpu_hours__isnull", False)),
                        fields=["project", "gpu_hours", "run"],
                        name="gathered_gpu_hours",
                    ),
                    models.Index(
                        condition=models.Q(("energy__isnull", False)),
                        fields=["project", "energy", "run"],
                        name="gathered_energy",
                    ),
                    models.Index(
                        condition=models.Q(("severity__isnull", False)),
                        fields=["project", "severity", "created_at", "run"],
                        name="gathered_severity",
                    ),
                    models.Index(
                        condition=models.Q(("stages__isnull", False)),
                        fields=["project", "stages", "created_at", "run"],
                        name="gathered_stages",
                    ),
                    models.Index(
                        condition=models.Q(("finding__isnull", False)),
                        fields=["project", "finding", "run"],
                        name="gathered_finding",
                    ),
                    models.Index(
                        condition=models.Q(("tags_beginning__isnull", False)),
                        fields=["project", "tags_beginning", "run"],
                        name="gathered_tags_beginning",
                    ),
                    tracker.models.set_index.SetIndex(
                        condition=models.Q(("tags__isnull", False)),
                        fields=["project", "run", "tags"],
                        name="gathered_tags",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Follow",
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
                ("is_on", models.BooleanField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="follows",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="follows",
                        to="tracker.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="follows",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "run"), name="follow_once_per_run"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("run", None)),
                        fields=("user", "project"),
                        name="follow_once_per_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
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
                ("due_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="tracker.alert",
                    ),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="tracker.channel",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["channel", "due_at"], name="delivery_due")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("alert", "channel"), name="delivery_once_per_channel"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Annotation",
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
                ("deleted_at", models.DateTimeField(null=True)),
                ("path", models.TextField()),
                ("step", models.FloatField()),
                ("time", models.DateTimeField()),
                ("text", models.CharField(max_length=1000)),
                ("written_at", models.DateTimeField()),
                ("edited_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="annotations",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="annotation_deleted",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rung",
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
                ("position", models.PositiveIntegerField()),
                ("note", models.TextField(default="")),
                (
                    "ladder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rungs",
                        to="tracker.ladder",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rungs",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "ordering": ("position",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("ladder", "run"), name="rung_once_per_ladder"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("is_shared", models.BooleanField(default=False)),
                ("is_default", models.BooleanField(default=False)),
                ("state", models.TextField(default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "owner",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="views",
                        to="tracker.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="view_deleted",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("deleted_at", None)),
                        fields=("project", "owner", "name"),
                        name="view_name_once_per_owner",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("deleted_at", None), ("is_default", True)),
                        fields=("project",),
                        name="view_default_once_per_project",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_default", False), ("is_shared", True), _connector="OR"
                        ),
                        name="view_default_is_shared",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeriesTicks",
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
                ("chunk_count", models.PositiveIntegerField()),
                ("data", models.BinaryField()),
                ("overview", models.BinaryField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="tracker.run"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SeriesChunk",
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
                ("count", models.PositiveIntegerField()),
                ("finite_count", models.PositiveIntegerField()),
                ("first_step", models.FloatField()),
                ("last_step", models.FloatField()),
                ("first_time", models.BigIntegerField()),
                ("last_time", models.BigIntegerField()),
                ("minimum", models.FloatField(null=True)),
                ("maximum", models.FloatField(null=True)),
                ("total", models.FloatField()),
                ("overview", models.BinaryField()),
                ("data", models.BinaryField()),
                ("checksum", models.IntegerField(null=True)),
                ("is_open", models.BooleanField(default=False)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tracker.run",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="tracker.attribute",
                    ),
                ),
                (
                    "ticks",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="tracker.seriesticks",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["run", "series", "first_step"], name="chunk_by_step"
                    ),
                    models.Index(
                        condition=models.Q(("is_open", True)),
                        fields=["run", "series"],
                        name="chunk_open",
                    ),
                ],
            },
        ),
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
                ("frozen", models.JSONField(null=True)),
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
        migrations.CreateModel(
            name="SignInLink",
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
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Stage",
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
                ("name", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("crashed", "Crashed"),
                            ("preempted", "Preempted"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("failure", models.TextField(default="")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stages",
                        to="tracker.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "name"), name="stage_name_once_per_run"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Finding",
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
                ("rule", models.CharField(max_length=100)),
                ("scope", models.CharField(default="", max_length=100)),
                ("is_open", models.BooleanField(default=True)),
                ("is_primary", models.BooleanField(default=False)),
                ("explained_by", models.CharField(default="", max_length=100)),
                ("severity", models.CharField(max_length=10)),
                ("confidence", models.FloatField()),
                ("title", models.CharField(max_length=300)),
                ("body", models.JSONField()),
                ("opened_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
                ("cleared_at", models.DateTimeField(null=True)),
                ("history", models.JSONField(default=list)),
                ("dismissed_at", models.DateTimeField(null=True)),
                ("dismissed_reason", models.CharField(default="", max_length=500)),
                (
                    "dismissed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="tracker.run",
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="tracker.stage",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["run", "is_open"], name="finding_open")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("stage", "rule", "scope"), name="finding_once_per_scope"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RunComment",
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
                ("deleted_at", models.DateTimeField(null=True)),
                ("about", models.CharField(default="", max_length=300)),
                ("text", models.TextField()),
                ("written_at", models.DateTimeField()),
                ("edited_at", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deleted_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="comments",
                        to="tracker.finding",
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="tracker.run",
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="answers",
                        to="tracker.runcomment",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("deleted_at__isnull", False),
                            models.Q(("text", ""), _negated=True),
                        ),
                        fields=["deleted_at"],
                        name="run_comment_deleted",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Spool",
            fields=[
                (
                    "id",
                    models.UUIDField(editable=False, primary_key=True, serialize=False),
                ),
                ("rank", models.PositiveIntegerField(default=0)),
                ("host", models.CharField(max_length=255)),
                ("process_id", models.PositiveBigIntegerField()),
                ("is_helper", models.BooleanField(db_default=False, default=False)),
                ("agent_version", models.CharField(max_length=50)),
                ("last_number", models.PositiveBigIntegerField(default=0)),
                ("recent_checksums", models.BinaryField(default=b"")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("crashed", "Crashed"),
                            ("preempted", "Preempted"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("failure", models.TextField(default="")),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("last_seen_at", models.DateTimeField()),
                ("said_gone_at", models.DateTimeField(null=True)),
                ("closed_attributes", models.BigIntegerField(null=True)),
                ("refused", models.JSONField(default=dict)),
                ("dropped_points", models.PositiveBigIntegerField(default=0)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spools",
                        to="tracker.run",
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spools",
                        to="tracker.stage",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "running")),
                        fields=["run"],
                        name="spool_running",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JournalEntry",
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
                ("first_number", models.PositiveBigIntegerField()),
                ("last_number", models.PositiveBigIntegerField()),
                ("point_count", models.PositiveIntegerField()),
                ("received_at", models.DateTimeField(auto_now_add=True)),
                ("data", models.BinaryField()),
                ("is_damaged", models.BooleanField(default=False)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tracker.run",
                    ),
                ),
                (
                    "spool",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tracker.spool",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "spool", "last_number"),
                        name="journal_frame_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Diagnosis",
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
                ("diagnosed_at", models.DateTimeField()),
                ("is_final", models.BooleanField(default=False)),
                ("window_start", models.BigIntegerField(null=True)),
                ("window_end", models.BigIntegerField(null=True)),
                ("step_count", models.PositiveBigIntegerField(default=0)),
                ("healthy", models.JSONField(default=list)),
                ("unanswered", models.JSONField(default=dict)),
                ("failed", models.JSONField(default=list)),
                ("rules_version", models.CharField(default="", max_length=40)),
                ("ledger", models.JSONField(null=True)),
                ("steps_per_second", models.FloatField(null=True)),
                ("examples_per_second", models.FloatField(null=True)),
                ("median_step_seconds", models.FloatField(null=True)),
                ("data_wait_share", models.FloatField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="diagnoses",
                        to="tracker.run",
                    ),
                ),
                (
                    "stage",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="diagnosis",
                        to="tracker.stage",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Token",
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
                ("name", models.CharField(max_length=200)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("log", "log"),
                            ("read", "read"),
                            ("manage", "manage"),
                        ],
                        max_length=10,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("is_limited", models.BooleanField(db_default=False, default=False)),
                ("prefix", models.CharField(max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="tracker.member",
                    ),
                ),
                (
                    "projects",
                    models.ManyToManyField(related_name="+", to="tracker.project"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Reopening",
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
                ("may_change", models.BooleanField()),
                ("is_new_stage", models.BooleanField()),
                ("joined_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reopenings",
                        to="tracker.run",
                    ),
                ),
                (
                    "spool",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reopening",
                        to="tracker.spool",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="tracker.token",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Work",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("compact", "Compact"),
                            ("diagnose", "Diagnose"),
                            ("purge", "Purge"),
                        ],
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="tracker.run"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["due_at"], name="work_due"),
                    models.Index(fields=["leased_until"], name="work_leased"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "kind"), name="work_once_per_run"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
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
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveBigIntegerField()),
                ("last_part_at", models.DateTimeField()),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["last_part_at"], name="upload_last_part")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "digest"), name="upload_once_per_workspace"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("viewer", "Viewer"),
                            ("guest", "Guest"),
                        ],
                        max_length=10,
                    ),
                ),
                ("email", models.EmailField(db_default="", default="", max_length=254)),
                ("is_mailed", models.BooleanField(db_default=False, default=False)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("max_uses", models.PositiveIntegerField(default=1, null=True)),
                ("use_count", models.PositiveIntegerField(db_default=0, default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "created_by",
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
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="tracker.project",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        django.db.models.functions.text.Lower("email"),
                        name="invitation_of_address",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="File",
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
                ("path", models.CharField(max_length=1024)),
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveBigIntegerField()),
                ("media_type", models.CharField(max_length=100)),
                ("name", models.CharField(max_length=255)),
                ("added_at", models.DateTimeField(auto_now=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.run",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "digest"], name="file_contents")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "path", "digest"), name="file_once_per_path"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Blob",
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
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveBigIntegerField()),
                ("stored_at", models.DateTimeField(auto_now_add=True)),
                ("asked_at", models.DateTimeField()),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["asked_at"], name="blob_asked")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "digest"), name="blob_once_per_workspace"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
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
                ("at", models.DateTimeField(auto_now_add=True)),
                ("actor", models.CharField(max_length=200)),
                ("address", models.CharField(default="", max_length=64)),
                ("action", models.CharField(max_length=60)),
                ("target", models.CharField(default="", max_length=400)),
                ("details", models.JSONField(default=dict)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="audit_entries",
                        to="tracker.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "-at"], name="audit_newest"),
                    models.Index(fields=["at"], name="audit_oldest"),
                ],
            },
        ),
    ]
