"""Replaces itself with another program that ends with its parent: launch <parent's id>
<program>…

A separate program, because a multi-threaded parent may not run Python code between fork
and exec.
"""

from __future__ import annotations

import os
import sys

from tracker.embedded.parent import die_with

if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
