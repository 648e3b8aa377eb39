"""The version of the agent, sent to the server."""

VERSION = "0.1.0"
