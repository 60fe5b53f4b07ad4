"""AWS's Signature Version 4, computed from what has come
(docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import quote

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
    r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})"
)


def problem(
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
    keys: Mapping[str, str],
    place: tuple[str, str],
) -> str:
    """What AWS would say, as the name of its error; "" if all is well. ``place``: region and
    service."""
    found = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if found is None or "x-amz-date" not in headers:
        return "MissingAuthenticationTokenException"
    access, day, region, service, signed, signature = found.groups()
    if access not in keys:
        return "UnrecognizedClientException"
    names = signed.split(";")
    if (region, service) != place or "host" not in names or "x-amz-date" not in names:
        return "InvalidSignatureException"
    canonical = "\n".join(
        [
            method,
            quote(target.partition("?")[0], safe="/-_.~"),
            target.partition("?")[2],
            *(f"{name}:{' '.join(headers[name].split())}" for name in names),
            "",
            signed,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    key = f"AWS4{keys[access]}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    right = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return "" if hmac.compare_digest(right, signature) else "InvalidSignatureException"
