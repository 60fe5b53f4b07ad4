"""A Model over the anthropic SDK, for Anthropic's API and compatible servers.

provider.py      facts that need no connection
model.py         the Model; imports no SDK by itself
wire.py          addresses and their keys, features of an endpoint, the body of a request
connection.py    one SDK client. Alone imports it
servers.py       other servers that speak the Messages API, as providers

Code independent of the Messages API is in ``adapters/model_http``. Nothing is imported here: the
server's start needs ``provider`` alone.
"""
