"""Providers of models: Anthropic, OpenAI and servers like them, the demo."""
