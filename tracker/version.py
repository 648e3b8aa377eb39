"""The version of the server, which it reports to clients."""

VERSION = "0.1.0"
