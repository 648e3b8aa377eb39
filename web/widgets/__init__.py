"""Every kind of widget, in the order that they are offered in."""

from collections.abc import Mapping

from web.pages.dashboards.widget_kind import Kind
from web.widgets import (
    chart,
    importance,
    ladder,
    ledger,
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
        value.KIND,
        table.KIND,
        importance.KIND,
        text.KIND,
        ladder.KIND,
        ledger.KIND,
    )
}
