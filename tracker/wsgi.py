"""The web server's way in."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

django = get_wsgi_application()

from tracker.api.batches import Batches  # noqa: E402 - Django is ready first

# Reads all routes and with them nearly all of the program, before anybody waits for it.
reverse("livez")

application = Batches(django)
