"""Models over the openai SDK, the extra ``[openai]``.

services.py      one row each: OpenAI and Azure (Responses API), others (Chat Completions)
responses.py     the Responses API: a request, and its stream
chat.py          the same for Chat Completions, which many servers speak
client.py        what both share: the SDK's client, errors, data to send back

Nothing is imported here: the server's start needs ``services`` alone.
"""
