"""Supported chat services: one file and one line each."""

from tracker.alerts.services.discord import DISCORD
from tracker.alerts.services.mattermost import MATTERMOST
from tracker.alerts.services.plain import PLAIN
from tracker.alerts.services.service import Service
from tracker.alerts.services.slack import SLACK
from tracker.alerts.services.teams import TEAMS

SERVICES: dict[str, Service] = {
    service.name: service for service in (SLACK, MATTERMOST, TEAMS, DISCORD, PLAIN)
}
