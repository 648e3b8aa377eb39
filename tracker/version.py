"""The version of the server, as it introduces itself to whoever asks who they are."""

VERSION = "0.1.0"
