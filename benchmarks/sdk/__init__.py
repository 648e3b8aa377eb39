"""Cost of a logging call in the training loop, for Seamark's agent and peers."""
