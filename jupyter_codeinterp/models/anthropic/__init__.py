"""The Messages API over the anthropic SDK: of Anthropic, of clouds, and of compatible servers.

services.py       one row each: Anthropic and the compatible servers; a search on this machine
messages.py       the API: a request, its stream, its errors. Imports the SDK
clouds.py         one row each: Amazon Bedrock, Google Vertex AI, Microsoft Foundry
cloud_clients.py  the SDK's clients for these. Imports the SDK, and boto3 or google-auth

Nothing is imported here: the server's start needs ``services`` and ``clouds`` alone.
"""
