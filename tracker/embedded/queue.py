"""kombu's folder queue, with messages that appear atomically.

kombu creates a message file and then writes it. A worker that reads it in between gets
a partial message and ends.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem


class Channel(filesystem.Channel):
    # kombu's own two definitions disagree on the name of the second parameter.
    def _put(  # type: ignore[override]
        self, queue: str, payload: dict[str, Any], **_options: Any
    ) -> None:
        name = f"{time.time_ns()}_{uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        # Workers ignore names with a leading dot.
        hidden = folder / f".{name}"
        hidden.write_text(json.dumps(payload), encoding="utf-8")
        hidden.rename(folder / name)


class Transport(filesystem.Transport):
    Channel = Channel
