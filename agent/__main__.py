"""`python -m agent` is the command `seamark`."""

import sys

from agent.commands import main

if __name__ == "__main__":
    sys.exit(main())
