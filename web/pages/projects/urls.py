"""URLs of the pages about projects."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.projects import (
    alerts,
    deletions,
    gpu_hours,
    metric_rules,
    project_life,
    project_settings,
    rule_settings,
    rules,
    trash,
)

urlpatterns: list[URLPattern] = [
    path("w/<slug:workspace>/projects/new", project_life.new, name="project-new"),
    *(
        path(
            f"w/<slug:workspace>/<slug:project>/settings/{what}",
            view,
            name=f"project-{what}",
        )
        for what, view in {
            "change": project_life.change,
            "archive": project_life.archive,
            "restore": project_life.restore,
            "delete": project_life.delete,
        }.items()
    ),
    path("docs/rules/<str:rule>", rules.rule_page, name="rule"),
    path("runs/<uuid:run_id>/trash", trash.move, name="run-trash"),
    path("runs/<uuid:run_id>/restore", trash.put_back, name="run-restore"),
    path("runs/<uuid:run_id>/delete", trash.delete, name="run-delete"),
    path("runs/<uuid:run_id>/pin", trash.pin_run, name="run-pin"),
    path("runs/<uuid:run_id>/unpin", trash.unpin_run, name="run-unpin"),
    path("w/<slug:workspace>/<slug:project>/alerts", alerts.alerts, name="alerts"),
    path(
        "w/<slug:workspace>/<slug:project>/channels/<int:channel_id>/try",
        alerts.try_channel,
        name="channel-try",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/channels/<int:channel_id>/again",
        alerts.send_again,
        name="channel-again",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/channels/<int:channel_id>/remove",
        alerts.remove_channel,
        name="channel-remove",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/alerts/rules/new",
        metric_rules.new_rule,
        name="metric-rule-new",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/alerts/rules/<int:rule_id>",
        metric_rules.rule,
        name="metric-rule",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/alerts/rules/<int:rule_id>/<str:change>",
        metric_rules.change_rule,
        name="metric-rule-change",
    ),
    path("w/<slug:workspace>/<slug:project>/trash", trash.trash, name="trash"),
    path(
        "w/<slug:workspace>/<slug:project>/trash/empty", trash.empty, name="trash-empty"
    ),
    path(
        "trash/<str:kind>/<uuid:thing_id>/restore",
        deletions.restore,
        name="deleted-restore",
    ),
    path(
        "trash/<str:kind>/<uuid:thing_id>/delete",
        deletions.delete,
        name="deleted-delete",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/settings",
        project_settings.project_settings,
        name="project-settings",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/gpu-hours",
        gpu_hours.gpu_hours,
        name="gpu-hours",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/settings/rules",
        rule_settings.rule_settings,
        name="rule-settings",
    ),
]
