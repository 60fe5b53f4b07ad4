"""Shared by the tools: the definition of a tool, its arguments, drafts, and the step."""
