"""Other agents as clients: an MCP server whose calls pass the same review as the agent's own."""
