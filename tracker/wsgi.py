"""The web server's way in."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

django = get_wsgi_application()

from tracker.api.batches import Batches  # noqa: E402 - Django is ready first
from tracker.server.arrival import Lingering  # noqa: E402
from tracker.server.vanished_clients import NoticingVanished  # noqa: E402

# Reads all routes and with them nearly all of the program, before anybody waits for it.
reverse("livez")
# What a program of this size consists of lasts as long as it does. Looking through it for
# garbage, as each few hundred requests would, has one of them wait for all of it.
gc.collect()
gc.freeze()

application = NoticingVanished(Lingering(Batches(django)))
