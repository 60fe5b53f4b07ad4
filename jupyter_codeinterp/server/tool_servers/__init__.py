"""MCP servers that the agent may use: which there are, which a person has approved, their state."""
