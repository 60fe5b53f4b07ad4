"""MCP servers for the agent: their entries, a person's approvals, and their state."""
