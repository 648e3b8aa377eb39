"""Finds the stored fields that contain any of some texts, whatever code wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.apps import apps
from django.db.models import BinaryField, Model, QuerySet
from django.test import Client

from tracker.models import Attribute, Run

# Attributes are identified by path, because the client chooses paths.
PATH_OF_OTHERS = "…"


def fields_holding(texts: Sequence[str], stage: str) -> set[str]:
    """Return columns as `Run.name`, and attributes by path, that contain any text.

    Of captured attributes only one stage is listed; a part of a path that equals one of
    the texts is replaced by `…`.
    """
    found: set[str] = set()
    for model in apps.get_app_config("tracker").get_models():
        for field, value in _values(model, stage, texts):
            if field not in found and _holds(value, texts):
                found.add(field)
    return found


def contents_holding(texts: Sequence[str], run: Run, client: Client) -> set[str]:
    """Return which of the run's contents that no column holds have any of the texts."""
    addresses = {
        "lines of a log": f"/api/v1/runs/{run.id}/records/text?path=logs/stdout",
        "content of a file": f"/api/v1/runs/{run.id}/files/content?path=notes",
    }
    return {
        what
        for what, address in addresses.items()
        if _holds(b"".join(client.get(address)).decode(), texts)
    }


def _values(
    model: type[Model], stage: str, texts: Sequence[str]
) -> Iterator[tuple[str, object]]:
    columns = [
        field.attname
        for field in model._meta.concrete_fields
        if not isinstance(field, BinaryField)
    ]
    of_attributes = {"text", "items"} if model is Attribute else set()
    for row in QuerySet(model).values(*columns):
        for column, value in row.items():
            if column not in of_attributes:
                yield f"{model.__name__}.{column}", value
            elif path := _path(row["path"], stage, texts):
                yield path, value


def _path(path: str, stage: str, texts: Sequence[str]) -> str:
    """Return the identity of an attribute; "" if another stage represents it."""
    within = path.removeprefix(f"monitoring/{stage}/")
    if within.startswith("monitoring/"):
        return ""
    # Paths are stored without a slash at their end.
    ends = (text.rstrip("/") for text in texts)
    places = [place for text in ends if (place := within.find(text)) >= 0]
    return f"{within[: min(places)]}{PATH_OF_OTHERS}" if places else within


def _holds(value: object, texts: Sequence[str]) -> bool:
    """Return whether a text, or any text in lists and objects, contains one of them."""
    if isinstance(value, str):
        return any(text in value for text in texts)
    if isinstance(value, dict):
        return any(_holds(each, texts) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(_holds(each, texts) for each in value)
    return False
