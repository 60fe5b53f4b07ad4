"""Replaces likely secrets in data for the model by a mark that says what was there.

It knows the formats of keys that services issue, and names such as ``password``. ``secrets.py``
removes the keys that the server knows. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .secrets import REMOVED

# -------------------------------------------------------------------------------------------------
# Recognizes API keys and private keys in a person's text, so that they are not sent by mistake.
#
# ``secrets.py`` removes keys that the server knows. A key that a person pastes into a message is
# unknown. The patterns are valid in Python and JavaScript: ``scripts/protocol.py`` copies the
# table into the page, which checks before the text leaves it. Placeholders such as ``sk-ant-…``
# do not match.


class KeyForm(NamedTuple):
    """The format of keys of ``providers``; without any, of a key that connects no model. ``alone``:
    the pattern counts only if the whole message matches."""

    providers: tuple[str, ...]
    pattern: str
    alone: bool = False


_MIXED = r"(?=[A-Za-z]{0,99}[0-9])(?=[0-9]{0,99}[A-Za-z])"
"""Matches before text with both letters and digits."""

KEY_FORMS = (
    KeyForm(("anthropic",), r"\bsk-ant-[A-Za-z0-9_-]{8,400}"),
    KeyForm(("openrouter",), r"\bsk-or-[A-Za-z0-9_-]{16,400}"),
    # A digit is required: names such as sk-learn-contrib-examples are no keys.
    KeyForm(
        ("openai", "deepseek", "moonshot"),
        r"\bsk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,400}",
    ),
    KeyForm(("xai",), r"\bxai-[A-Za-z0-9]{20,200}"),
    KeyForm(("gemini",), r"\bAIza[A-Za-z0-9_-]{35}"),
    KeyForm(("bedrock",), r"\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=_-]{32,2000}"),
    KeyForm(("zai",), r"\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b"),
    KeyForm(("mistral", "azure-openai", "foundry"), rf"{_MIXED}[A-Za-z0-9]{{32}}", alone=True),
    KeyForm(("azure-openai", "foundry"), rf"{_MIXED}[A-Za-z0-9]{{84}}", alone=True),
    KeyForm((), r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
)

_PATTERNS = [(re.compile(form.pattern, re.ASCII), form.alone) for form in KEY_FORMS]


def looks_like_key(text: str) -> bool:
    """Whether the text contains what looks like a key."""
    whole = text.strip()
    return any(
        pattern.fullmatch(whole) if alone else pattern.search(text) for pattern, alone in _PATTERNS
    )


def without_keys(text: str) -> str:
    """The text with a mark in place of each likely key."""
    for pattern, alone in _PATTERNS:
        text = pattern.sub(REMOVED, text) if not alone or pattern.fullmatch(text.strip()) else text
    return text


_BEFORE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""Matches after no letter, or after the escape of a line end."""
_FORMS = (
    ("AWS key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    (
        "GitHub token",
        ("gh", "github_pat_"),
        r"(?:gh[opsur]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})",
    ),
    ("GitLab token", ("gl",), r"gl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_.-]{20,200}"),
    ("Slack token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,250}"),
    ("Stripe key", ("k_live_", "k_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}"),
    ("webhook secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,200}"),
    ("Google token", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,400}"),
    ("Hugging Face token", ("hf_",), r"hf_[A-Za-z0-9]{30,100}"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,400}"),
    ("SendGrid key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{16,80}"),
    ("Twilio key", ("SK",), r"SK[0-9a-f]{32}(?![0-9a-f])"),
    ("Mailgun key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("Telegram token", (":AA",), r"\d{8,10}:AA[A-Za-z0-9_-]{30,40}"),
    ("DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    ("Databricks token", ("dapi",), r"dapi[0-9a-f]{32}"),
    ("Shopify token", ("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", ("sq0",), r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,60}"),
    ("Notion token", ("ntn_", "secret_"), r"(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})"),
    ("Airtable token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Vault token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{24,200}"),
    ("Terraform token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,100}"),
    (
        "access token",
        (
            *("gsk_", "r8_", "pplx-", "tvly-", "lsv2_", "lin_api_", "figd_", "NRAK-", "sntrys_"),
            *("glc_", "glsa_", "dp.pt.", "PMAK-", "sbp_", "pscale_", "dckr_pat_", "nvapi-", "pul-"),
        ),
        r"(?:gsk_|r8_|pplx-|tvly-|lsv2_(?:pt|sk)_|lin_api_|figd_|NRAK-|sntrys_|glc_|glsa_|dp\.pt\."
        r"|PMAK-|sbp_|pscale_(?:tkn|pw|oauth)_|dckr_pat_|nvapi-|pul-)[A-Za-z0-9_-]{20,400}",
    ),
    ("age key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    (
        "signed token",
        ("eyJ",),
        r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}",
    ),
    (
        "webhook address",
        ("hooks.slack.com", "/api/webhooks/"),
        r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[A-Za-z0-9_/-]{20,200}",
    ),
)
_ISSUED = [(name, starts, re.compile(_BEFORE + form, re.ASCII)) for name, starts, form in _FORMS]
_KEYS = [
    (found[1], re.compile(form.pattern.replace(r"\b", _BEFORE, 1), re.ASCII))
    for form in KEY_FORMS
    if not form.alone and (found := re.match(r"\\b([\w-]*)", form.pattern))
]
"""The fixed beginning of each format, and its pattern."""
_PRIVATE = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PRIVATE_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 20_000
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\]*")
_WITH_PASSWORD = re.compile(
    r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@'\"<>]{0,100}:)([^\s/'\"<>]{1,200})@"
)
_AUTHORIZATION = re.compile(r"(?<![A-Za-z])((?:Bearer|Basic|Token) )([A-Za-z0-9._~+/=-]{16,2000})")

# --- values with a telling name ------------------------------------------------------------

_TELLING = re.compile(
    r"pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|signature"
    r"|(?:api|access|secret|private|auth|account|signing|encryption|shared|licen[cs]e|master)[_-]?key"
    r"|accesskey|_key|[?&]sig",
    re.IGNORECASE,
)
_TELLING_PARTS = ("pass", "pwd", "secret", "token", "credential", "sig", "key")
"""Each telling name contains one of these."""
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,60}\Z")
_AFTER = re.compile(
    r"(?:[_-]?(?:id|value|key|base64|[0-9]{1,2}))?[\"']?\]?"
    r"(?:\s{0,3}(?:=>|:=|=|:)\s{0,3}|\s{0,3},\s{0,3}(?=[\"'])"
    r"|\", \"type\": \"\w{1,30}\"(?:, \"\w{1,20}\": [\d\[\], ]{1,30}){0,3}, \"value\": \""
    r"|: \w{1,30}(?: \w{1,20}=[\w\[\], ]{1,20}){0,3} value=)"
    r"[rbuf]?[\\\"']{0,4}([^\s\"',;&<>]{6,2000})"
)
_PASSES = re.compile(r"pass|pwd", re.IGNORECASE)
_COMMON = re.compile(
    r"(?:(?:your|my|test|fake|dummy|example|some)[-_]|(?:none|null|true|false|secret|example)\b"
    r"|changeme|placeholder|x{3,}|\*{3,}|password\d{0,4}\b|redacted|removed)",
    re.IGNORECASE,
)
_CODE = frozenset("(){}[]$|`")
_PIECE = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"(?=[a-f]{0,99}[0-9])(?=[0-9]{0,99}[a-f])[0-9a-f]{16,400}", re.IGNORECASE)
_RUN = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_LEAST = 16
"""Minimum characters of a value, except for passwords."""
_ENOUGH = 400
"""Characters of a value that are examined, because one value may contain many telling names."""


def without_secrets(text: str) -> str:
    """The text with a mark in place of each likely secret."""
    if "PRIVATE KEY" in text:
        text = _without_private_keys(text)
    for start, form in _KEYS:
        if start in text:
            text = form.sub("[API key removed]", text)
    for name, starts, form in _ISSUED:
        if any(start in text for start in starts):
            text = form.sub(f"[{name} removed]", text)
    if "://" in text:
        text = _WITH_PASSWORD.sub(_without_password, text)
    if any(kind in text for kind in ("Bearer ", "Basic ", "Token ")):
        text = _AUTHORIZATION.sub(_without_authorization, text)
    lowered = text.lower()
    return _without_named(text) if any(word in lowered for word in _TELLING_PARTS) else text


def _without_private_keys(text: str) -> str:
    parts: list[str] = []
    place = 0
    for begin in _PRIVATE.finditer(text):
        if begin.start() < place:
            continue
        body = _BODY.match(text, begin.end())
        stop = body.end() if body is not None else begin.end()
        end = _PRIVATE_END.search(text, begin.end(), begin.end() + _LONGEST_KEY)
        stop = max(stop, end.end() if end is not None else stop)
        parts += [text[place : begin.start()], "[private key removed]"]
        place = stop
    return "".join([*parts, text[place:]])


def _without_password(found: re.Match[str]) -> str:
    user, password = found.groups()
    if _is_placeholder(password) or password in ("password", "pass", "pwd", "pw"):
        return found[0]
    return f"{user}[password removed]@"


def _without_authorization(found: re.Match[str]) -> str:
    kind, value = found.groups()
    return f"{kind}[credentials removed]" if _is_random(value) else found[0]


def _without_named(text: str) -> str:
    parts: list[str] = []
    place = 0
    for start, end, name in _named(text):
        if start >= place:
            parts += [text[place:start], f"[value of {name} removed]"]
            place = end
    return "".join([*parts, text[place:]])


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each value that is probably a secret."""
    for word in _TELLING.finditer(text):
        after = _AFTER.match(text, word.end())
        if after is None:
            continue
        before = _NAME_BEFORE.search(text[max(0, word.start() - 60) : word.start()])
        name = f"{before[0] if before else ''}{word[0]}".lstrip(".-?&")
        value = after[1][:_ENOUGH]
        if word[0].lower() == "_key" and not name.isupper():
            continue  # ``sort_key``
        if _CODE.intersection(value) and not _PASSES.search(name):
            continue
        is_pass = _PASSES.search(word[0]) is not None
        is_secret = _is_password(value) if is_pass else _is_random(value)
        # After a semicolon, as in ``UID=sa;PWD=…``, it is always a password.
        is_secret = is_secret or (is_pass and text[word.start() - 1 : word.start()] == ";")
        if is_secret and not _is_placeholder(value):
            yield after.start(1), after.end(1), name[-60:]


def _is_placeholder(value: str) -> bool:
    return _COMMON.match(value) is not None or value[0] in "$%{<[" or len(set(value)) < 4


def _is_password(value: str) -> bool:
    """Whether the value mixes letters with digits or other signs, or small and capital letters, and
    is no code."""
    if "(" in value or "[" in value or "://" in value:
        return False
    others = any(not sign.isalpha() and sign not in "_-./:\\" for sign in value)
    return any(map(str.isalpha, value)) and (others or _changes("".join(_PIECE.findall(value))) > 3)


def _is_random(value: str) -> bool:
    """Whether the value consists mostly of something else than words."""
    if len(value) < _LEAST or len(set(value)) < 8:
        return False
    pieces = _PIECE.findall(value)
    mixed = sum(len(piece) for piece in pieces if _changes(piece) > 2)
    plain = "".join(pieces)
    is_hex = _HEX.fullmatch(plain) is not None
    return is_hex or 2 * mixed >= len(value) or 3 * _changes(plain) >= len(plain)


def _changes(piece: str) -> int:
    """How often letters and digits, or small and capital letters, follow each other."""
    return max(0, len(_RUN.findall(piece[:_ENOUGH])) - 1)
