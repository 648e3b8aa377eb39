"""All kinds of objects that share links can open."""

from tracker.shares.comparison import COMPARISON
from tracker.shares.dashboard import DASHBOARD
from tracker.shares.kind import Kind
from tracker.shares.ladder import LADDER
from tracker.shares.report import REPORT
from tracker.shares.run import RUN

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (RUN, COMPARISON, LADDER, DASHBOARD, REPORT)
}
