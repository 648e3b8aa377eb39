"""The answer of every route to every role.

A column stands for a role of `ROLES`, in that order: `s` is the sign-in page or 401,
`3` is 403, `4` is 404, `+` is anything that the view itself answers.
"""

from __future__ import annotations

ROLES = (
    "anonymous",
    "deactivated",
    "outsider",
    "guest of another project",
    "guest",
    "viewer",
    "member",
    "admin",
    "owner",
    # An owner whose own keys, views, comments and notifications are in the addresses.
    "maker",
)

# Names of routes of pages, each with its method; POST unless it is GET.
PAGES = {
    # Public: signing in, files of the pages, and links with a secret.
    "++++++++++": """
        GET:sign-in sign-in GET:sign-in-link sign-in-link GET:plotly-bundle
        GET:texts GET:shared GET:shared-page GET:account_login account_login
        GET:account_inactive GET:account_reset_password account_reset_password
        GET:account_reset_password_done GET:account_reset_password_from_key
        account_reset_password_from_key GET:help GET:sdk GET:sdk-archive
    """,
    # A deactivated member does not return by an invitation.
    "+3++++++++": "GET:join join",
    # Absent without a provider, and an unknown page of the documentation.
    "4444444444": "GET:openid_connect_login GET:openid_connect_callback GET:help-page",
    # It leads to the sign-in page.
    "ssssssssss": "sign-out",
    # Pages of the account, and lists of readable items only.
    "s+++++++++": """
        GET:projects GET:places GET:keys-old-address GET:keys GET:rule
        GET:inbox GET:inbox-bell inbox-read notification-mark
        GET:notifications notifications notification-test-webhook
        notification-test-mail
        GET:account account GET:sessions end-other-sessions
        GET:account_change_password account_change_password
        GET:account_set_password account_set_password GET:security GET:mfa_index
        GET:mfa_authenticate mfa_authenticate GET:account_reauthenticate
        account_reauthenticate GET:mfa_reauthenticate mfa_reauthenticate
        GET:mfa_reauthenticate_webauthn mfa_reauthenticate_webauthn
        GET:mfa_activate_totp mfa_activate_totp GET:mfa_add_webauthn
        mfa_add_webauthn GET:mfa_remove_webauthn mfa_remove_webauthn
        GET:mfa_login_webauthn mfa_login_webauthn
        GET:mfa_generate_recovery_codes mfa_generate_recovery_codes
    """,
    # One's own things alone.
    "s44444444+": "key-revoke GET:notification view-change view-delete",
    "s44433333+": "comment-edit run-comment-edit",
    # Pages of the workspace.
    "s4433+++++": "GET:members",
    "s443333+++": """
        invite GET:member member-role member-deactivate member-reactivate
        member-confirm-email member-reset-link member-second-factor member-offboard member-remove invitation-renew invitation-revoke
        GET:workspace-keys workspace-key-revoke GET:service-account-new
        service-account-new GET:service-account service-account
        service-account-delete GET:audit GET:audit-csv
        GET:workspace-settings workspace-settings
    """,
    "s44+++++++": "keys first-key GET:workspace",
    "s3+3333+++": "GET:workspace-new workspace-new",
    "s44333++++": "GET:project-new project-new",
    "s4433333++": "workspace-delete",
    # Read a project.
    "s444++++++": """
        GET:runs GET:runs-page GET:run-names GET:runs-groups GET:runs-columns
        GET:runs-csv GET:runs-charts charts-arrangement view-keep
        GET:panel-form panel-form GET:panel-body GET:panel-figure
        GET:run-address GET:run GET:run-header GET:run-charts
        GET:run-charts-search GET:run-logs GET:run-hardware GET:run-profile GET:run-attributes
        GET:run-attributes-csv GET:run-source GET:run-media GET:run-media-panel
        GET:run-media-file GET:run-media-html GET:run-media-table GET:run-media-table-csv
        GET:run-media-points
        GET:run-files GET:run-file-preview
        GET:run-file-picture GET:run-file-figure GET:run-file-html
        GET:run-series GET:run-charts-figures GET:run-histograms GET:run-stages
        GET:run-hardware-figure
        GET:compare GET:compare-figure GET:compare-figures GET:compare-scatter
        GET:compare-hardware GET:compare-marks GET:compare-table
        GET:compare-media GET:compare-search
        GET:alerts GET:trash GET:project-settings GET:project-members
        GET:gpu-hours GET:rule-settings GET:ladders GET:ladder
        GET:ladder-figure GET:ladder-report GET:dashboards GET:dashboard
        GET:widget-body GET:widget-figure GET:reports GET:report
        GET:report-versions GET:report-widget-body GET:report-widget-figure
        GET:report-comments report-comments comment-answer
        GET:metric-rule-new metric-rule-new
        GET:run-comments run-comments run-comment-answer GET:project-readers
        run-follow project-follow
    """,
    # Change a project.
    "s44433++++": """
        run-comment-resolve run-comment-reopen
        GET:run-move run-move runs-tag runs-trash runs-restore runs-move GET:runs-changed annotation-add
        run-trash run-restore finding-dismiss finding-bring-back run-describe
        run-metric run-pin run-unpin deleted-restore ladders ladder-note
        GET:ladder-edit ladder-edit ladder-delete dashboards dashboard-rename
        dashboard-duplicate dashboard-delete GET:dashboard-runs dashboard-runs
        GET:panel-dashboard panel-dashboard
        GET:widget-new widget-new GET:widget-edit widget-edit widget-place
        widget-remove widget-put-back reports report-restore report-delete
        comment-resolve comment-reopen GET:report-edit report-edit report-draft
        report-discard GET:report-widget report-widget
        GET:shares shares GET:share share-revoke
    """,
    # Manage a project; delete or change another member's texts.
    "s444333+++": """
        annotation-edit annotation-delete annotation-restore run-delete alerts
        channel-try channel-again channel-remove trash-empty deleted-delete
        project-settings rule-settings project-members project-access
        project-member-role project-member-remove comment-delete comment-restore
        run-comment-delete run-comment-restore
        GET:metric-rule metric-rule metric-rule-change
        project-change project-archive project-restore project-delete
    """,
    # Absent for its readers, too: the sample has none of these.
    "s444444444": """
        GET:confirm-email confirm-email GET:widget-picture GET:report-picture GET:widget-medium
        GET:report-widget-medium GET:run-evidence end-session
        GET:mfa_deactivate_totp mfa_deactivate_totp GET:mfa_view_recovery_codes
    """,
}

# API operations with a key of scope manage; keys of deactivated members have no access.
PROJECT = "/api/v1/projects/{workspace}/{project}"
WORKSPACE = "/api/v1/workspaces/{workspace}"
RUN = "/api/v1/runs/{run_id}"
API = {
    "++++++++++": ["GET /livez", "GET /readyz"],
    "ss++++++++": [
        "GET /api/v1/me",
        "GET /api/v1/projects",
        "GET /api/v1/limits",
        # They write to the key's own workspace, whatever the address contains.
        "POST /api/v1/ingest/{spool_id}",
        "POST /api/v1/ingest/{spool_id}/gone",
        "POST /api/v1/blobs/{digest}",
    ],
    "ss43333+++": [
        f"GET {WORKSPACE}/members",
        f"PATCH {WORKSPACE}/members/{{member_id}}",
        f"POST {WORKSPACE}/members/{{member_id}}/confirm-email",
        f"POST {WORKSPACE}/members/{{member_id}}/offboard",
        f"POST {WORKSPACE}/members/{{member_id}}/remove",
        f"GET {WORKSPACE}/audit",
        f"GET {WORKSPACE}/invitations",
        f"POST {WORKSPACE}/invitations",
        f"POST {WORKSPACE}/invitations/{{invitation_id}}/renew",
        f"DELETE {WORKSPACE}/invitations/{{invitation_id}}",
        f"GET {WORKSPACE}/service-accounts",
        f"POST {WORKSPACE}/service-accounts",
        f"DELETE {WORKSPACE}/service-accounts/{{account_id}}",
        f"PATCH {WORKSPACE}",
    ],
    "ss4+++++++": [
        f"GET {WORKSPACE}",
        f"GET {WORKSPACE}/keys",
        f"POST {WORKSPACE}/keys",
    ],
    # Own keys, or all keys for managers of the workspace.
    "ss44444+++": [f"DELETE {WORKSPACE}/keys/{{key_id}}"],
    "ss433333++": [f"DELETE {WORKSPACE}"],
    "ss+3333+++": ["POST /api/v1/workspaces"],
    "ss4333++++": [f"POST {WORKSPACE}/projects"],
    "ss44++++++": [
        f"GET {PROJECT}",
        f"GET {PROJECT}/runs",
        f"GET {PROJECT}/attribute-paths",
        f"GET {PROJECT}/series",
        f"GET {PROJECT}/points",
        f"GET {PROJECT}/ladders",
        f"GET {PROJECT}/ledger",
        f"GET {PROJECT}/trash",
        f"GET {RUN}",
        f"GET {RUN}/attributes",
        f"GET {RUN}/attributes/all",
        f"GET {RUN}/files",
        f"GET {RUN}/files/content",
        f"GET {RUN}/files/archive",
        f"GET {RUN}/series",
        f"GET {RUN}/records",
        f"GET {RUN}/records/found",
        f"GET {RUN}/records/text",
        f"GET {RUN}/diagnosis",
        f"GET {RUN}/comments",
        f"POST {RUN}/comments",
        f"GET {PROJECT}/metric-rules",
        f"POST {PROJECT}/metric-rules",
        "GET /api/v1/ladders/{ladder_id}",
    ],
    "ss4433++++": [
        f"POST {PROJECT}/ladders",
        f"POST {RUN}/trash",
        f"POST {RUN}/restore",
        f"POST {RUN}/pin",
        f"POST {RUN}/unpin",
        f"POST {PROJECT}/move-runs",
    ],
    # The text of a comment, to its author alone.
    "ss4433333+": [f"PATCH {RUN}/comments/{{run_comment_id}}"],
    "ss44333+++": [
        f"DELETE {RUN}",
        f"PATCH {PROJECT}",
        f"DELETE {PROJECT}",
        f"POST {PROJECT}/archive",
        f"POST {PROJECT}/restore",
        f"GET {PROJECT}/members",
        f"POST {PROJECT}/members",
        f"DELETE {PROJECT}/members/{{member_id}}",
        f"PUT {PROJECT}/access",
        # Own ones, or all for managers of the project.
        f"PATCH {PROJECT}/metric-rules/{{rule_id}}",
        f"DELETE {PROJECT}/metric-rules/{{rule_id}}",
        f"DELETE {RUN}/comments/{{run_comment_id}}",
    ],
}


def page_rows() -> dict[tuple[str, str], str]:
    """Return the row of each method and name of a route."""
    rows = {}
    for answers, names in PAGES.items():
        for each in names.split():
            method, _, name = each.rpartition(":")
            assert (method or "POST", name) not in rows, each
            rows[method or "POST", name] = answers
    return rows


def api_rows() -> dict[tuple[str, str], str]:
    """Return the row of each method and address of an operation."""
    rows = {}
    for answers, operations in API.items():
        for each in operations:
            method, _, path = each.partition(" ")
            rows[method, path] = answers
    return rows
