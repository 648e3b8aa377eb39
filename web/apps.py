"""The Django application of the pages."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils import translation

from web.figures.texts import translate_with


class WebConfig(AppConfig):
    name = "web"

    def ready(self) -> None:
        # Modules have the functions of this protocol.
        translate_with(translation)
        # Its tables are ready only now.
        from web.sign_in import receivers  # noqa: PLC0415 - see above

        receivers.connect()
