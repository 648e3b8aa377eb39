"""A project's price of a GPU-hour and the carbon intensity of its electricity."""

from __future__ import annotations

import math

from django.db import transaction

from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.project_notes import note_change
from tracker.errors import InvalidInput
from tracker.models import Project

HIGHEST_PRICE = 1e9
CURRENCY_LENGTH = 8
MAX_CARBON_INTENSITY = 10_000  # g CO₂e per kWh; coal emits about 1,000


def set_price(
    project: Project,
    price: float | None,
    currency: str,
    audit: AuditContext | None = None,
) -> None:
    """Set the price of a GPU-hour and its currency; None: unknown."""
    price, currency = checked_price(price, currency)
    project.gpu_hour_price = price
    project.currency = currency
    with transaction.atomic():
        project.save(update_fields=["gpu_hour_price", "currency"])
        note_change(project, audit, gpu_hour_price=price, currency=project.currency)


def set_carbon_intensity(
    project: Project, grams: float | None, audit: AuditContext | None = None
) -> None:
    """Set the g CO₂e per kWh of the project's electricity; None: unknown."""
    if grams is not None and not (
        math.isfinite(grams) and 0 <= grams <= MAX_CARBON_INTENSITY
    ):
        raise InvalidInput(
            "carbon_intensity",
            f"must be a number from 0 to {MAX_CARBON_INTENSITY:,}, or empty",
        )
    project.carbon_intensity = grams
    with transaction.atomic():
        project.save(update_fields=["carbon_intensity"])
        note_change(project, audit, carbon_intensity=grams)


def checked_price(price: float | None, currency: str) -> tuple[float | None, str]:
    """Return both in stored form; raise InvalidInput if invalid."""
    if price is not None and not (math.isfinite(price) and 0 <= price <= HIGHEST_PRICE):
        raise InvalidInput(
            "gpu_hour_price", f"must be a number from 0 to {HIGHEST_PRICE:g}, or empty"
        )
    currency = currency.strip()
    if price is not None and not _is_currency(currency):
        raise InvalidInput(
            "currency", f"must be 1 to {CURRENCY_LENGTH} characters, such as EUR"
        )
    return price, "" if price is None else currency


def _is_currency(text: str) -> bool:
    return 1 <= len(text) <= CURRENCY_LENGTH and text.isprintable()
