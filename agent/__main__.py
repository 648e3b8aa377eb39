"""`python -m seamark` is the command `seamark`."""

import sys

from seamark.commands import main

if __name__ == "__main__":
    sys.exit(main())
