"""The pages about API keys, workspaces and projects as a whole."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.views import project_life, projects, run_moves
from web.views.people import audit, keys, service_accounts, workspaces

workspace_urls: list[URLPattern] = [
    path("settings/tokens", keys.old_address, name="keys-old-address"),
    path("account/keys", keys.keys, name="keys"),
    path("account/keys/first", projects.first_key, name="first-key"),
    path("account/keys/<int:key_id>/revoke", keys.revoke, name="key-revoke"),
    path("w/<slug:workspace>/keys", keys.workspace_keys, name="workspace-keys"),
    path(
        "w/<slug:workspace>/keys/<int:key_id>/revoke",
        keys.revoke_in_workspace,
        name="workspace-key-revoke",
    ),
    path("runs/<uuid:run_id>/move", run_moves.move, name="run-move"),
    path(
        "w/<slug:workspace>/<slug:project>/runs/move",
        run_moves.move_many,
        name="runs-move",
    ),
    path("workspaces/new", workspaces.new, name="workspace-new"),
    path("w/<slug:workspace>/", workspaces.workspace, name="workspace"),
    path("w/<slug:workspace>/settings", workspaces.settings, name="workspace-settings"),
    path("w/<slug:workspace>/delete", workspaces.delete, name="workspace-delete"),
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
    path("w/<slug:workspace>/audit", audit.audit, name="audit"),
    path("w/<slug:workspace>/audit.csv", audit.audit_csv, name="audit-csv"),
    path(
        "w/<slug:workspace>/service-accounts/new",
        service_accounts.new,
        name="service-account-new",
    ),
    path(
        "w/<slug:workspace>/service-accounts/<int:account_id>",
        service_accounts.account,
        name="service-account",
    ),
    path(
        "w/<slug:workspace>/service-accounts/<int:account_id>/delete",
        service_accounts.delete,
        name="service-account-delete",
    ),
]
