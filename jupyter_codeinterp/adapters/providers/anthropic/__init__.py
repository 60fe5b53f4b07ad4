"""A Model over the anthropic SDK, for Anthropic's API and servers that speak the same.

provider.py      what is known of it before anything is connected
model.py         the Model; imports no SDK by itself
credentials.py   which key goes to which address
profile.py       what an endpoint is sent, and the models that are known without asking
wire.py          a ModelRequest as the body of POST /v1/messages
connection.py    one client of the SDK. Alone imports it
servers/         other servers that speak the Messages API, as providers

What is no matter of the Messages API stands in ``adapters/model_http``.
Nothing is imported here: the server's start needs ``provider`` alone.
"""
