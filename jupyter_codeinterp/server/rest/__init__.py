"""The REST API: conversations, settings and windows."""
