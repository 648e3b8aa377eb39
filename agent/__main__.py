"""`python -m agent sync` and `python -m agent status`."""

import sys

from agent.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
