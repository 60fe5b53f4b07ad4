"""Tools of MCP servers: their names, their schemas, and the decision on each call."""
