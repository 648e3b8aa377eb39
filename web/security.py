"""The security headers of every response."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


def _policy(styles: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            styles,
            # Data for the pictures that charts are saved as.
            "img-src 'self' data: blob:",
            "media-src 'self'",
            # Sandboxed HTML that a run stored.
            "frame-src 'self'",
            "connect-src 'self'",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


CONTENT_SECURITY_POLICY = _policy("style-src 'self'")
# Plotly adds one empty <style> (the hash of the empty string) and sets style
# attributes; it needs no other permission.
POLICY_WITH_CHARTS = _policy(
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    "; style-src-attr 'unsafe-inline'"
)
# Tag in the head of pages that may draw charts.
DRAWS_CHARTS = b'<meta name="draws" content="charts">'
HEAD_END = b"</head>"
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class ContentSecurity:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        policy = POLICY_WITH_CHARTS if may_draw(response) else CONTENT_SECURITY_POLICY
        response.setdefault("Content-Security-Policy", policy)
        response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        if not request.path.startswith("/static/"):
            response.setdefault("Cache-Control", "no-store")
            # Django's never_cache adds four directives that mean no more.
            if "no-store" in response["Cache-Control"]:
                response["Cache-Control"] = "no-store"
        return response


def may_draw(response: HttpResponse) -> bool:
    """Return whether it is a page on which charts may be drawn."""
    if response.streaming or "text/html" not in response.get("Content-Type", ""):
        return False
    page = response.content
    end = page.find(HEAD_END)
    return end >= 0 and page.find(DRAWS_CHARTS, 0, end) >= 0
