"""Entry point of the web server."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

django = get_wsgi_application()

from tracker.api.batches import Batches  # noqa: E402 - Django is ready first
from tracker.server.body_reader import Lingering  # noqa: E402
from tracker.server.vanished_clients import NoticingVanished  # noqa: E402

# Loads all routes, and with them most modules, before the first request.
reverse("livez")
# Objects loaded at startup live as long as the process. Without freezing them, each
# full garbage collection would scan them and delay a request.
gc.collect()
gc.freeze()

application = NoticingVanished(Lingering(Batches(django)))
