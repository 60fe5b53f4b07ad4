"""Faithful fakes of the Responses API and of Chat Completions, as OpenAI and others speak it: real
HTTP, real server-sent events, faults on demand, and a check of each request.

What it answers, and how it serves, is that of ``tests/fake_anthropic``: a script gives turns.

manners.py    how the services differ that speak Chat Completions
errors.py     answers that are errors, in the services' own words
server.py     the server
responses.py  turns as events, and what is refused, of the Responses API
chat.py       the same of Chat Completions
common.py     what both refuse
"""

from .manners import AZURE, GEMINI, LOCAL, MISTRAL, RESPONSES, XAI, Manner
from .server import FakeOpenAI

__all__ = ["AZURE", "GEMINI", "LOCAL", "MISTRAL", "RESPONSES", "XAI", "FakeOpenAI", "Manner"]
