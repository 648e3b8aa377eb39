"""Parts of a page that ask for themselves again and again: what they hold is not sent."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse

from tracker.freshness import is_held, marked, not_modified


def poll_answer(request: HttpRequest, text: str, *, alike: str = "") -> HttpResponse:
    """Answer a part of a page, or nothing if it is what the asker named as theirs.

    `alike` is the text without what pages find out by themselves, such as how long
    something has been going on.
    """
    said = (alike or text).encode()
    version = hashlib.blake2b(said, digest_size=12).hexdigest()
    if is_held(request, version):
        return not_modified(version)
    return marked(HttpResponse(text), version)
