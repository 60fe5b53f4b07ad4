"""The agent loop: asks the model, carries out its calls, sends it the results."""
