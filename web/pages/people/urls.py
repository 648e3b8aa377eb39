"""URLs of the pages about people, keys, service accounts, workspaces and the audit log."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.people import (
    audit,
    follows,
    invitations,
    joining,
    keys,
    member_sign_in,
    members,
    notifications,
    project_members,
    service_accounts,
    workspaces,
)

urlpatterns: list[URLPattern] = [
    path("settings/tokens", keys.old_address, name="keys-old-address"),
    path("account/keys", keys.keys, name="keys"),
    path("account/keys/<int:key_id>/revoke", keys.revoke, name="key-revoke"),
    path("w/<slug:workspace>/keys", keys.workspace_keys, name="workspace-keys"),
    path(
        "w/<slug:workspace>/keys/<int:key_id>/revoke",
        keys.revoke_in_workspace,
        name="workspace-key-revoke",
    ),
    path("workspaces/new", workspaces.new, name="workspace-new"),
    path("w/<slug:workspace>/", workspaces.workspace, name="workspace"),
    path("w/<slug:workspace>/settings", workspaces.settings, name="workspace-settings"),
    path("w/<slug:workspace>/delete", workspaces.delete, name="workspace-delete"),
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
    path("runs/<uuid:run_id>/follow", follows.change_run, name="run-follow"),
    path(
        "w/<slug:workspace>/<slug:project>/follow",
        follows.change_project,
        name="project-follow",
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
]
