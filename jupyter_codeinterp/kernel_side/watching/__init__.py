"""What watches cells of the agent in a Python kernel."""
