"""The table of contents of the pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from web.views import (
    account,
    alerts,
    compare,
    figures,
    findings,
    gpu_hours,
    ladders,
    project_settings,
    projects,
    rule_settings,
    rules,
    run,
    run_attributes,
    run_charts,
    run_files,
    run_hardware,
    run_logs,
    run_source,
    runs,
    shared,
    shares,
    trash,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", projects.projects_page, name="projects"),
    path("sign-in", account.sign_in, name="sign-in"),
    path("sign-in/<str:secret>", account.sign_in_link, name="sign-in-link"),
    path("sign-out", account.sign_out, name="sign-out"),
    path("settings/tokens", account.tokens_page, name="tokens"),
    path("settings/tokens/<int:token_id>/revoke", account.revoke, name="revoke-token"),
    path("docs/rules/<str:rule>", rules.rule_page, name="rule"),
    path("w/<str:workspace>/<str:project>/", runs.runs, name="runs"),
    path("w/<str:workspace>/<str:project>/runs.json", runs.runs_json, name="runs-page"),
    path("runs/<uuid:run_id>/", run.overview, name="run"),
    path("runs/<uuid:run_id>/header", run.header, name="run-header"),
    path("runs/<uuid:run_id>/charts", run_charts.charts, name="run-charts"),
    path("runs/<uuid:run_id>/logs", run_logs.logs, name="run-logs"),
    path("runs/<uuid:run_id>/hardware", run_hardware.hardware, name="run-hardware"),
    path(
        "runs/<uuid:run_id>/attributes",
        run_attributes.attributes,
        name="run-attributes",
    ),
    path("runs/<uuid:run_id>/source", run_source.source, name="run-source"),
    path("runs/<uuid:run_id>/files", run_files.files, name="run-files"),
    path(
        "runs/<uuid:run_id>/files/preview",
        run_files.file_preview,
        name="run-file-preview",
    ),
    path(
        "runs/<uuid:run_id>/files/picture",
        run_files.file_picture,
        name="run-file-picture",
    ),
    path(
        "runs/<uuid:run_id>/files/figure",
        run_files.file_figure,
        name="run-file-figure",
    ),
    path("runs/<uuid:run_id>/trash", trash.move, name="run-trash"),
    path("runs/<uuid:run_id>/restore", trash.put_back, name="run-restore"),
    path("runs/<uuid:run_id>/delete", trash.delete, name="run-delete"),
    path(
        "runs/<uuid:run_id>/findings/<int:finding_id>/dismiss",
        findings.dismiss_finding,
        name="finding-dismiss",
    ),
    path(
        "runs/<uuid:run_id>/findings/<int:finding_id>/bring-back",
        findings.bring_finding_back,
        name="finding-bring-back",
    ),
    path("runs/<uuid:run_id>/pin", trash.pin_run, name="run-pin"),
    path("runs/<uuid:run_id>/unpin", trash.unpin_run, name="run-unpin"),
    path("runs/<uuid:run_id>/figures/series", figures.series, name="run-series"),
    path(
        "runs/<uuid:run_id>/figures/histograms",
        figures.histograms,
        name="run-histograms",
    ),
    path("runs/<uuid:run_id>/figures/stages", figures.stages, name="run-stages"),
    path(
        "runs/<uuid:run_id>/figures/hardware",
        figures.hardware,
        name="run-hardware-figure",
    ),
    path("runs/<uuid:run_id>/figures/evidence", figures.evidence, name="run-evidence"),
    path("w/<str:workspace>/<str:project>/compare", compare.compare, name="compare"),
    path(
        "w/<str:workspace>/<str:project>/compare/figure",
        compare.compare_figure,
        name="compare-figure",
    ),
    path(
        "w/<str:workspace>/<str:project>/compare/table",
        compare.compare_table,
        name="compare-table",
    ),
    path(
        "w/<str:workspace>/<str:project>/compare/search",
        compare.compare_search,
        name="compare-search",
    ),
    path("w/<str:workspace>/<str:project>/alerts", alerts.alerts, name="alerts"),
    path(
        "w/<str:workspace>/<str:project>/channels/<int:channel_id>/try",
        alerts.try_channel,
        name="channel-try",
    ),
    path(
        "w/<str:workspace>/<str:project>/channels/<int:channel_id>/again",
        alerts.send_again,
        name="channel-again",
    ),
    path(
        "w/<str:workspace>/<str:project>/channels/<int:channel_id>/remove",
        alerts.remove_channel,
        name="channel-remove",
    ),
    path("w/<str:workspace>/<str:project>/trash", trash.trash, name="trash"),
    path(
        "w/<str:workspace>/<str:project>/trash/empty", trash.empty, name="trash-empty"
    ),
    path(
        "w/<str:workspace>/<str:project>/settings",
        project_settings.project_settings,
        name="project-settings",
    ),
    path(
        "w/<str:workspace>/<str:project>/gpu-hours",
        gpu_hours.gpu_hours,
        name="gpu-hours",
    ),
    path(
        "w/<str:workspace>/<str:project>/settings/rules",
        rule_settings.rule_settings,
        name="rule-settings",
    ),
    path("w/<str:workspace>/<str:project>/ladders/", ladders.ladders, name="ladders"),
    path("ladders/<uuid:ladder_id>/", ladders.ladder, name="ladder"),
    path(
        "ladders/<uuid:ladder_id>/figure", ladders.ladder_figure, name="ladder-figure"
    ),
    path("ladders/<uuid:ladder_id>/edit", ladders.edit, name="ladder-edit"),
    path("ladders/<uuid:ladder_id>/delete", ladders.delete, name="ladder-delete"),
    path("w/<str:workspace>/<str:project>/shares", shares.shares, name="shares"),
    path("w/<str:workspace>/<str:project>/shares/new", shares.share, name="share"),
    path(
        "w/<str:workspace>/<str:project>/shares/<int:share_id>/revoke",
        shares.revoke,
        name="share-revoke",
    ),
    path("s/<str:secret>/", shared.shared, name="shared"),
    path("s/<str:secret>/<path:rest>", shared.shared_page, name="shared-page"),
]
