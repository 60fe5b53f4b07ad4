"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: the Messages API behind the
doors of a cloud, by the anthropic SDK's own clients.

table.py        one row each: where it answers, what signs a person in, models
provider.py     a row as a Provider
credentials.py  which address is asked, and with whose credentials
model.py        the Model; imports no SDK by itself
connection.py   what the three have in common
bedrock.py      the clients. Each alone imports what its cloud needs
vertex.py
foundry.py

A connection is an address, like all others: it has the region, the project or the resource in it,
and instead of it a person may name just those. Credentials that belong to the cloud itself (AWS's,
Google's) are used at the cloud's own hosts, or where the environment sends requests; nowhere else.

Nothing is imported here: the server's start needs ``provider`` alone.
"""
