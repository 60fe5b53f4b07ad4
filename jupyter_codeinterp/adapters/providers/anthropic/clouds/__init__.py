"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: a cloud's Messages API,
through the anthropic SDK's own clients.

table.py        one row each: address, sign-in, models
provider.py     a row as a Provider
credentials.py  which address to use, and with whose credentials
model.py        the Model; imports no SDK by itself
connection.py   the common part of the three clients
bedrock.py      the clients. Each alone imports what its cloud needs
vertex.py
foundry.py

A connection is an address, like all others: it includes the region, the project or the resource,
and a person may name just those. The cloud's own credentials (AWS's, Google's) go only to the
cloud's own hosts, or where the environment sends requests.

Nothing is imported here: the server's start needs ``provider`` alone.
"""
