"""Models over the openai SDK, the extra ``[openai]``: OpenAI through the Responses API, others
through Chat Completions, which many servers speak.

services.py      facts about each service: address, variables, wire; which key goes where
provider.py      services as providers
model.py         the Model; imports no SDK by itself
connection.py    one SDK client. Alone imports it
refusals.py      reads errors
kept.py          data that must go back to a model unchanged, and fits in no block
responses.py     the Responses API: a request, and its stream as events of the Messages API
chat.py          the same for Chat Completions

Nothing is imported here: the server's start needs ``provider`` alone.
"""
