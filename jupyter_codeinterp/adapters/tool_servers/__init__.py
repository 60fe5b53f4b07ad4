"""MCP servers whose tools the agent may call. Only ``client.py`` and ``stdio.py`` need the
package ``mcp``; import them on first use.
"""
