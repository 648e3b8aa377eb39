"""Examines a failure before the process that holds it exits."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seamark.recording.steps import Steps

logger = logging.getLogger(__name__)


def examine(error: BaseException, steps: Steps) -> None:
    """Log the contents of GPU memory after an out-of-memory error."""
    if "torch" not in sys.modules:
        return
    try:
        from seamark.frameworks.torch_memory import (  # noqa: PLC0415
            is_out_of_memory,
            report,
        )

        if is_out_of_memory(error):
            steps.state("out_of_memory", report(error))
    except Exception:
        # Broad: the failure itself is reported in any case.
        logger.debug("the failure cannot be examined", exc_info=True)
