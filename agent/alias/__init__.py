"""The SDK under its short name: `import agent`.

Every name here is the object of the same name in `seamark`. Use `import seamark` in a
folder that has an `agent.py` of its own.
"""

from seamark import *  # noqa: F403 - the public list is kept in one place
from seamark import __all__  # noqa: F401 - as above
