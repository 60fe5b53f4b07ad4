"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: a cloud's Messages API,
through the anthropic SDK's own clients.

table.py       one row each: address, sign-in, models; whose credentials go there
provider.py    a row as a Provider
model.py       the Model; imports no SDK by itself
connection.py  the common part of the three clients, and Foundry's
bedrock.py     AWS's client; imports boto3
vertex.py      Google's client; imports google-auth

A connection's address includes the region, the project or the resource. A person may name just
those. The cloud's own credentials (AWS's, Google's) go only to the
cloud's own hosts, or where the environment sends requests.

Nothing is imported here: the server's start needs ``provider`` alone.
"""
