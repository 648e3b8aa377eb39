"""Points per second through the SDKs of Seamark and other trackers."""
