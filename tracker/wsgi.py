"""The web server's way in."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

django = get_wsgi_application()

from tracker.api.batches import Batches  # noqa: E402 - Django is ready first

application = Batches(django)
