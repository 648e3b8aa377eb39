"""URLs of the pages about dashboards."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.dashboards import dashboards, widgets

urlpatterns: list[URLPattern] = [
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
        widgets.runs,
        name="dashboard-runs",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/widgets/new",
        widgets.new,
        name="widget-new",
    ),
    *(
        path(
            f"dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/{part}",
            view,
            name=f"widget-{part}",
        )
        for part, view in {
            "body": widgets.body,
            "figure": widgets.figure,
            "edit": widgets.edit,
            "place": widgets.place,
            "remove": widgets.remove,
            "put-back": widgets.put_back,
        }.items()
    ),
    path(
        "dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/pictures/<str:key>",
        widgets.picture,
        name="widget-picture",
    ),
    path(
        "dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>"
        "/media/<uuid:run_id>/<str:form>",
        widgets.medium,
        name="widget-medium",
    ),
]
