"""MCP servers whose tools the agent may call. Only ``client.py``, ``stdio.py`` and ``http.py`` need
the package ``mcp``; import them on first use.
"""
