"""URLs of the pages about reports."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.reports import comments, editing, reports

urlpatterns: list[URLPattern] = [
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
        "reports/<uuid:report_id>/widgets/<str:key>/media/<uuid:run_id>/<str:form>",
        reports.medium,
        name="report-widget-medium",
    ),
    path(
        "reports/<uuid:report_id>/pictures/<str:key>",
        reports.picture,
        name="report-picture",
    ),
    path(
        "reports/<uuid:report_id>/comments",
        comments.comments,
        name="report-comments",
    ),
    *(
        path(
            f"reports/<uuid:report_id>/comments/<int:comment_id>/{what}",
            view,
            name=f"comment-{what}",
        )
        for what, view in {
            "answer": comments.answer,
            "edit": comments.edit,
            "delete": comments.delete,
            "resolve": comments.resolve,
            "reopen": comments.reopen,
            "restore": comments.restore,
        }.items()
    ),
    path("reports/<uuid:report_id>/edit", editing.edit, name="report-edit"),
    path("reports/<uuid:report_id>/draft", editing.draft, name="report-draft"),
    path(
        "reports/<uuid:report_id>/draft/discard",
        editing.discard,
        name="report-discard",
    ),
    path("reports/<uuid:report_id>/widget", editing.widget, name="report-widget"),
]
