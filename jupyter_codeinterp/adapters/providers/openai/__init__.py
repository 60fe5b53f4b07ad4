"""Models over the openai SDK, which is the extra ``[openai]``: OpenAI by the Responses API, and
others by Chat Completions, which many servers speak.

services.py      what is known of each service: address, variables, wire
provider.py      them as providers
model.py         the Model; imports no SDK by itself
credentials.py   which key goes to which address
connection.py    one client of the SDK. Alone imports it
refusals.py      what an error says
kept.py          what must go back to a model as it came, and fits in no block
responses_…      the Responses API: a request, and its stream as events of the Messages API
chat_…           the same for Chat Completions

Nothing is imported here: the server's start needs ``provider`` alone.
"""
