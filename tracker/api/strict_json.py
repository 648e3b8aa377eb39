"""Reads JSON bodies strictly: ambiguous ones are rejected."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser

from tracker.errors import InvalidInput

# No valid number has more digits; Python itself rejects several thousand.
MAX_DIGITS = 400
BODY = "The body"


class StrictParser(Parser):
    """Replaces ninja's body parser."""

    # Any: JSON of any type, which ninja validates.
    def parse_body(self, request: HttpRequest) -> Any:
        content = read_json(request.body)
        if not isinstance(content, dict):
            # ninja accepts an empty list as an object without fields.
            raise InvalidInput(BODY, "must be a JSON object")
        return content


def read_json(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode(),
            object_pairs_hook=_without_doubles,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidInput(BODY, "must be UTF-8") from error
    except RecursionError as error:
        raise InvalidInput(BODY, "is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(BODY, f"is not JSON: {error}") from error


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise InvalidInput(BODY, "contains a duplicate key")
    return content


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise InvalidInput(BODY, f"holds a number of more than {MAX_DIGITS} digits")
    return int(text)


def _number(text: str) -> float | int:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidInput(BODY, "holds a number beyond those of 64 bits")
    # JSON has one number type: 2.0 equals 2.
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(BODY, f"holds {name}, which is not JSON")
