"""What a logging call costs the training loop, in Seamark's agent and in peers."""
