"""URLs of the pages about run."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.run import (
    address,
    comments,
    findings,
    hardware,
    notes,
    point_annotations,
    run,
)

urlpatterns: list[URLPattern] = [
    path("r/<uuid:spool_id>", address.redirect_to_run, name="run-address"),
    path("runs/<uuid:run_id>/", run.overview, name="run"),
    path("runs/<uuid:run_id>/header", run.header, name="run-header"),
    path(
        "runs/<uuid:run_id>/annotations",
        point_annotations.add_annotation,
        name="annotation-add",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/edit",
        point_annotations.edit_annotation,
        name="annotation-edit",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/delete",
        point_annotations.remove_annotation,
        name="annotation-delete",
    ),
    path(
        "runs/<uuid:run_id>/annotations/<int:annotation_id>/restore",
        point_annotations.put_back_annotation,
        name="annotation-restore",
    ),
    path("runs/<uuid:run_id>/hardware", hardware.hardware, name="run-hardware"),
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
    path("runs/<uuid:run_id>/comments", comments.comments, name="run-comments"),
    *(
        path(
            f"runs/<uuid:run_id>/comments/<int:run_comment_id>/{what}",
            view,
            name=f"run-comment-{what}",
        )
        for what, view in {
            "answer": comments.answer,
            "edit": comments.edit,
            "delete": comments.delete,
            "restore": comments.restore,
            "resolve": comments.resolve,
            "reopen": comments.reopen,
        }.items()
    ),
    path(
        "w/<slug:workspace>/<slug:project>/readers.json",
        comments.readers,
        name="project-readers",
    ),
    path("runs/<uuid:run_id>/describe", notes.describe_run, name="run-describe"),
    path("runs/<uuid:run_id>/key-metrics", notes.choose_metric, name="run-metric"),
]
