"""The tables. Django requires all models to be importable from here."""

from tracker.models.alert import Alert, Channel, ChannelKind, Delivery
from tracker.models.attribute import Attribute, Kind
from tracker.models.audit import AuditEntry
from tracker.models.chart import Annotation, ChartArrangement
from tracker.models.dashboard import Dashboard
from tracker.models.diagnosis import Diagnosis, Finding
from tracker.models.file import Blob, File, Upload
from tracker.models.ladder import Ladder, Rung
from tracker.models.metric_rule import (
    MetricIncident,
    MetricRule,
    RuleCondition,
    RuleUnit,
)
from tracker.models.notification import (
    Follow,
    MailSchedule,
    Notification,
    NotificationKind,
    NotificationSettings,
)
from tracker.models.project import BulkChange, Project, ProjectMember
from tracker.models.records import RecordChunk
from tracker.models.report import Report, ReportComment, ReportDraft, ReportVersion
from tracker.models.run import Fork, Reopening, Run, Spool, Stage, State
from tracker.models.run_comment import RunComment
from tracker.models.run_summary import RunSummary
from tracker.models.saved_view import SavedView
from tracker.models.series import JournalEntry, Rewind, SeriesChunk, SeriesTicks
from tracker.models.server import (
    CacheEntry,
    Heartbeat,
    Mail,
    ProcessRole,
    Work,
    WorkKind,
)
from tracker.models.share import ShareLink
from tracker.models.user import SignInLink, Token, User
from tracker.models.workspace import Invitation, Member, Role, Workspace

__all__ = [
    "Alert",
    "Annotation",
    "Attribute",
    "AuditEntry",
    "Blob",
    "BulkChange",
    "CacheEntry",
    "Channel",
    "ChannelKind",
    "ChartArrangement",
    "Dashboard",
    "Delivery",
    "Diagnosis",
    "File",
    "Finding",
    "Follow",
    "Fork",
    "Heartbeat",
    "Invitation",
    "JournalEntry",
    "Kind",
    "Ladder",
    "Mail",
    "MailSchedule",
    "Member",
    "MetricIncident",
    "MetricRule",
    "Notification",
    "NotificationKind",
    "NotificationSettings",
    "ProcessRole",
    "Project",
    "ProjectMember",
    "RecordChunk",
    "Reopening",
    "Report",
    "ReportComment",
    "ReportDraft",
    "ReportVersion",
    "Rewind",
    "Role",
    "RuleCondition",
    "RuleUnit",
    "Run",
    "RunComment",
    "RunSummary",
    "Rung",
    "SavedView",
    "SeriesChunk",
    "SeriesTicks",
    "ShareLink",
    "SignInLink",
    "Spool",
    "Stage",
    "State",
    "Token",
    "Upload",
    "User",
    "Work",
    "WorkKind",
    "Workspace",
]
