"""The folder that serves as queue: kombu's, with messages that appear whole.

kombu makes a message's file and then writes it. A worker that looks in between reads
half a message, and ends.
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
        # Workers take no name with a dot in front.
        hidden = folder / f".{name}"
        hidden.write_text(json.dumps(payload), encoding="utf-8")
        hidden.rename(folder / name)


class Transport(filesystem.Transport):
    Channel = Channel
