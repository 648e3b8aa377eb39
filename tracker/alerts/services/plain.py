"""Plain JSON, as docs/how-to/alerts.md describes it."""

from __future__ import annotations

from tracker.alerts.message import json_of
from tracker.alerts.services.service import Service

PLAIN = Service("json", "JSON", json_of)
