"""The full bundle of Plotly, for charts and pages saved as one HTML file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

ONE_DAY = "public, max-age=86400"


@require_safe
def plotly_bundle(_request: HttpRequest) -> HttpResponse:
    """Answer the script; it is the same for everybody."""
    # It takes half a second to import, which no other page should wait for.
    from plotly.offline import get_plotlyjs  # noqa: PLC0415

    response = HttpResponse(get_plotlyjs(), "text/javascript; charset=utf-8")
    response["Cache-Control"] = ONE_DAY
    return response
