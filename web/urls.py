"""The table of contents of the pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from web import account_urls
from web.views import (
    alerts,
    chart_arrangements,
    compare,
    compare_figures,
    compare_media,
    compare_values,
    dashboard_widgets,
    dashboards,
    deletions,
    figures,
    findings,
    gpu_hours,
    ladders,
    many_runs,
    metric_rules,
    places,
    project_settings,
    projects,
    report_comments,
    report_editing,
    reports,
    rule_settings,
    rules,
    run,
    run_address,
    run_annotations,
    run_attributes,
    run_charts,
    run_comments,
    run_files,
    run_hardware,
    run_logs,
    run_marks,
    run_names,
    run_notes,
    run_source,
    runs,
    runs_charts,
    runs_csv,
    saved_views,
    series_figures,
    shared,
    shares,
    trash,
)
from web.views.people import (
    follows,
    invitations,
    joining,
    member_sign_in,
    members,
    notifications,
    project_members,
)
from web.views.plotly_bundle import plotly_bundle
from web.views.texts import Texts
from web.workspace_urls import workspace_urls

urlpatterns: list[URLPattern | URLResolver] = [
    path("", projects.projects_page, name="projects"),
    path("places.json", places.places, name="places"),
    *account_urls.urlpatterns,
    path("join/<str:secret>", joining.join_page, name="join"),
    path("w/<slug:workspace>/members", members.members_page, name="members"),
    path("w/<slug:workspace>/members/invite", invitations.send, name="invite"),
    path(
        "w/<slug:workspace>/members/<int:member_id>",
        members.member_page,
        name="member",
    ),
    *(
        path(
            f"w/<slug:workspace>/members/<int:member_id>/{what}",
            view,
            name=f"member-{what}",
        )
        for what, view in {
            "role": members.set_role,
            "deactivate": members.deactivate,
            "reactivate": members.reactivate,
            "offboard": members.offboard,
            "remove": members.remove,
            "reset-link": member_sign_in.reset_link,
            "second-factor": member_sign_in.remove_second_factor,
            "confirm-email": member_sign_in.confirm_email,
        }.items()
    ),
    *(
        path(
            f"w/<slug:workspace>/invitations/<int:invitation_id>/{what}",
            view,
            name=f"invitation-{what}",
        )
        for what, view in {
            "renew": invitations.renew,
            "revoke": invitations.revoke,
        }.items()
    ),
    *workspace_urls,
    path("inbox", notifications.inbox, name="inbox"),
    path("inbox/bell", notifications.bell, name="inbox-bell"),
    path("inbox/read", notifications.mark_all, name="inbox-read"),
    path(
        "inbox/<int:notification_id>",
        notifications.open_notification,
        name="notification",
    ),
    path(
        "inbox/<int:notification_id>/mark", notifications.mark, name="notification-mark"
    ),
    path(
        "account/notifications",
        notifications.notification_settings,
        name="notifications",
    ),
    path(
        "account/notifications/test-webhook",
        notifications.test_webhook,
        name="notification-test-webhook",
    ),
    path(
        "account/notifications/test-mail",
        notifications.test_mail,
        name="notification-test-mail",
    ),
    path("plotly.js", plotly_bundle, name="plotly-bundle"),
    path("texts/<str:language>/<str:version>.js", Texts.as_view(), name="texts"),
    path("docs/rules/<str:rule>", rules.rule_page, name="rule"),
    path("w/<slug:workspace>/<slug:project>/", runs.runs, name="runs"),
    path(
        "w/<slug:workspace>/<slug:project>/runs.json", runs.runs_json, name="runs-page"
    ),
    path(
        "w/<slug:workspace>/<slug:project>/run-names",
        run_names.run_names,
        name="run-names",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/groups.json",
        runs.groups_json,
        name="runs-groups",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/columns.json",
        runs.columns_json,
        name="runs-columns",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs.csv", runs_csv.runs_csv, name="runs-csv"
    ),
    path(
        "w/<slug:workspace>/<slug:project>/charts/arrangement",
        chart_arrangements.arrange_charts,
        name="charts-arrangement",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/charts",
        runs_charts.runs_charts,
        name="runs-charts",
    ),
    path("w/<slug:workspace>/<slug:project>/runs/tag", many_runs.tag, name="runs-tag"),
    path(
        "w/<slug:workspace>/<slug:project>/runs/trash",
        many_runs.move,
        name="runs-trash",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/restore",
        many_runs.put_back,
        name="runs-restore",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/changed",
        many_runs.changed,
        name="runs-changed",
    ),
    path("w/<slug:workspace>/<slug:project>/views", saved_views.keep, name="view-keep"),
    path("views/<uuid:view_id>", saved_views.change, name="view-change"),
    path("views/<uuid:view_id>/delete", saved_views.delete, name="view-delete"),
    path("r/<uuid:spool_id>", run_address.redirect_to_run, name="run-address"),
    path("runs/<uuid:run_id>/", run.overview, name="run"),
    path("runs/<uuid:run_id>/header", run.header, name="run-header"),
    path("runs/<uuid:run_id>/charts", run_charts.charts, name="run-charts"),
    path(
        "runs/<uuid:run_id>/charts/search",
        run_charts.search_charts,
        name="run-charts-search",
    ),
    path(
        "runs/<uuid:run_id>/annotations",
        run_annotations.add_annotation,
        name="annotation-add",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/edit",
        run_annotations.edit_annotation,
        name="annotation-edit",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/delete",
        run_annotations.remove_annotation,
        name="annotation-delete",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/restore",
        run_annotations.put_back_annotation,
        name="annotation-restore",
    ),
    path("runs/<uuid:run_id>/logs", run_logs.logs, name="run-logs"),
    path("runs/<uuid:run_id>/hardware", run_hardware.hardware, name="run-hardware"),
    path(
        "runs/<uuid:run_id>/attributes",
        run_attributes.attributes,
        name="run-attributes",
    ),
    path(
        "runs/<uuid:run_id>/attributes.csv",
        run_attributes.attributes_csv,
        name="run-attributes-csv",
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
    path("runs/<uuid:run_id>/files/html", run_files.file_html, name="run-file-html"),
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
    path("runs/<uuid:run_id>/comments", run_comments.comments, name="run-comments"),
    *(
        path(
            f"runs/<uuid:run_id>/comments/<int:run_comment_id>/{what}",
            view,
            name=f"run-comment-{what}",
        )
        for what, view in {
            "answer": run_comments.answer,
            "edit": run_comments.edit,
            "delete": run_comments.delete,
            "restore": run_comments.restore,
            "resolve": run_comments.resolve,
            "reopen": run_comments.reopen,
        }.items()
    ),
    path(
        "w/<slug:workspace>/<slug:project>/readers.json",
        run_comments.readers,
        name="project-readers",
    ),
    path("runs/<uuid:run_id>/rename", run_notes.rename, name="run-rename"),
    path("runs/<uuid:run_id>/follow", follows.change_run, name="run-follow"),
    path(
        "w/<slug:workspace>/<slug:project>/follow",
        follows.change_project,
        name="project-follow",
    ),
    path("runs/<uuid:run_id>/describe", run_notes.describe_run, name="run-describe"),
    path("runs/<uuid:run_id>/key-metrics", run_notes.choose_metric, name="run-metric"),
    path("runs/<uuid:run_id>/pin", trash.pin_run, name="run-pin"),
    path("runs/<uuid:run_id>/unpin", trash.unpin_run, name="run-unpin"),
    path("runs/<uuid:run_id>/figures/series", series_figures.series, name="run-series"),
    path(
        "runs/<uuid:run_id>/figures/charts",
        series_figures.charts,
        name="run-charts-figures",
    ),
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
    path("w/<slug:workspace>/<slug:project>/compare", compare.compare, name="compare"),
    path(
        "w/<slug:workspace>/<slug:project>/compare/figure",
        compare_figures.compare_figure,
        name="compare-figure",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/figures",
        compare_figures.compare_figures,
        name="compare-figures",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/scatter",
        compare_values.compare_scatter,
        name="compare-scatter",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/hardware",
        compare_figures.compare_hardware,
        name="compare-hardware",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/marks",
        run_marks.compare_marks,
        name="compare-marks",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/table",
        compare.compare_table,
        name="compare-table",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/media",
        compare_media.compare_media,
        name="compare-media",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/search",
        compare.compare_search,
        name="compare-search",
    ),
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
        "w/<slug:workspace>/<slug:project>/members",
        project_members.project_members_page,
        name="project-members",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/members/access",
        project_members.set_access,
        name="project-access",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/members/<int:member_id>/role",
        project_members.set_role,
        name="project-member-role",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/members/<int:member_id>/remove",
        project_members.remove,
        name="project-member-remove",
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
    path("w/<slug:workspace>/<slug:project>/ladders/", ladders.ladders, name="ladders"),
    path("ladders/<uuid:ladder_id>/", ladders.ladder, name="ladder"),
    path(
        "ladders/<uuid:ladder_id>/figure", ladders.ladder_figure, name="ladder-figure"
    ),
    path("ladders/<uuid:ladder_id>/report", ladders.report, name="ladder-report"),
    path(
        "ladders/<uuid:ladder_id>/notes/<uuid:run_id>",
        ladders.note,
        name="ladder-note",
    ),
    path("ladders/<uuid:ladder_id>/edit", ladders.edit, name="ladder-edit"),
    path("ladders/<uuid:ladder_id>/delete", ladders.delete, name="ladder-delete"),
    path(
        "w/<slug:workspace>/<slug:project>/dashboards/",
        dashboards.dashboards,
        name="dashboards",
    ),
    path("dashboards/<uuid:dashboard_id>/", dashboards.dashboard, name="dashboard"),
    path(
        "dashboards/<uuid:dashboard_id>/rename",
        dashboards.rename,
        name="dashboard-rename",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/duplicate",
        dashboards.duplicate,
        name="dashboard-duplicate",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/delete",
        dashboards.delete,
        name="dashboard-delete",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/runs",
        dashboard_widgets.runs,
        name="dashboard-runs",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/widgets/new",
        dashboard_widgets.new,
        name="widget-new",
    ),
    *(
        path(
            f"dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/{part}",
            view,
            name=f"widget-{part}",
        )
        for part, view in {
            "body": dashboard_widgets.body,
            "figure": dashboard_widgets.figure,
            "edit": dashboard_widgets.edit,
            "place": dashboard_widgets.place,
            "remove": dashboard_widgets.remove,
            "put-back": dashboard_widgets.put_back,
        }.items()
    ),
    path(
        "dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/pictures/<str:key>",
        dashboard_widgets.picture,
        name="widget-picture",
    ),
    path("w/<slug:workspace>/<slug:project>/reports/", reports.reports, name="reports"),
    path("reports/<uuid:report_id>/", reports.report, name="report"),
    path("reports/<uuid:report_id>/versions", reports.versions, name="report-versions"),
    path(
        "reports/<uuid:report_id>/versions/<int:number>/restore",
        reports.restore,
        name="report-restore",
    ),
    path("reports/<uuid:report_id>/delete", reports.delete, name="report-delete"),
    path(
        "reports/<uuid:report_id>/widgets/<str:key>/body",
        reports.body,
        name="report-widget-body",
    ),
    path(
        "reports/<uuid:report_id>/widgets/<str:key>/figure",
        reports.figure,
        name="report-widget-figure",
    ),
    path(
        "reports/<uuid:report_id>/pictures/<str:key>",
        reports.picture,
        name="report-picture",
    ),
    path(
        "reports/<uuid:report_id>/comments",
        report_comments.comments,
        name="report-comments",
    ),
    *(
        path(
            f"reports/<uuid:report_id>/comments/<int:comment_id>/{what}",
            view,
            name=f"comment-{what}",
        )
        for what, view in {
            "answer": report_comments.answer,
            "edit": report_comments.edit,
            "delete": report_comments.delete,
            "resolve": report_comments.resolve,
            "reopen": report_comments.reopen,
            "restore": report_comments.restore,
        }.items()
    ),
    path("reports/<uuid:report_id>/edit", report_editing.edit, name="report-edit"),
    path("reports/<uuid:report_id>/draft", report_editing.draft, name="report-draft"),
    path(
        "reports/<uuid:report_id>/draft/discard",
        report_editing.discard,
        name="report-discard",
    ),
    path(
        "reports/<uuid:report_id>/widget", report_editing.widget, name="report-widget"
    ),
    path("w/<slug:workspace>/<slug:project>/shares", shares.shares, name="shares"),
    path("w/<slug:workspace>/<slug:project>/shares/new", shares.share, name="share"),
    path(
        "w/<slug:workspace>/<slug:project>/shares/<int:share_id>/revoke",
        shares.revoke,
        name="share-revoke",
    ),
    path("s/<str:secret>/", shared.shared, name="shared"),
    path("s/<str:secret>/<path:rest>", shared.shared_page, name="shared-page"),
]
