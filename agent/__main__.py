"""Runs the `seamark` command as `python -m seamark`."""

import sys

from seamark.commands import main

if __name__ == "__main__":
    sys.exit(main())
