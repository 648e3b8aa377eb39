"""Every kind of widget, in the order that they are offered in."""

from collections.abc import Mapping

from web.pages.dashboards.widget_kind import Kind
from web.widgets import (
    chart,
    histograms,
    importance,
    ladder,
    ledger,
    logged_text,
    media,
    run_values,
    table,
    text,
    value,
)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        chart.KIND,
        *run_values.KINDS,
        media.KIND,
        logged_text.KIND,
        histograms.KIND,
        value.KIND,
        table.KIND,
        importance.KIND,
        text.KIND,
        ladder.KIND,
        ledger.KIND,
    )
}
