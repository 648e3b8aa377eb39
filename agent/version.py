"""The version of the agent, as it introduces itself to the tracker."""

VERSION = "0.1.0"
