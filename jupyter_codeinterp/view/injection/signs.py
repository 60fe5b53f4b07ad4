"""Recognizes words in data that read like instructions to a language model.

It knows only a list of phrases. It ignores case, punctuation and invisible characters, maps
look-alike letters, and takes time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Container, Iterator
from functools import cache
from itertools import accumulate, islice

# -------------------------------------------------------------------------------------------------
# Phrases that address a language model, as patterns of lower-case words.
#
# ``_3`` stands for up to three words, a name in capitals for one of a group. An indented line
# continues the phrase above it.

_GROUPS = {
    "MODEL": """
        ai|a i|llms?|(?:large )?language models?|copilot|claude|gemini|code interpreter
        |chat gpt|chatgpt|gpt4|gpt5|gpt|chat bots?|chatbots?
        |(?:ai|virtual|coding|data|notebook|jupyter|dear|automated|analysis) assistants?
        |(?:ai|llm|coding|data|notebook|jupyter|dear|automated|autonomous|analysis) agents?""",
    "SECRETS": """
        api keys?|passwords?|secrets?|credentials?|environment variables?|env(?:ironment)? vars
        |ssh keys?|private keys?|(?:access )?tokens?|system prompt|conversation|chat history
        |etc passwd|os environ|home directory""",
    "PEOPLE": "users?|persons?|people|humans?|anyone|anybody|owner|operator|analyst|customer|them",
    "PERSON": "user|person|owner|admin|administrator|operator|human|analyst|customer",
    "EARLIER": "your|previous|prior|above|earlier|preceding|safety|system|original",
    "THOSE": """
        all|any|every|each|your|the|my|previous|prior|above|earlier|preceding|original|these|those""",
    "ORDERS": "rules|orders|commands|context|restrictions|polic(?:y|ies)|messages?|training|task",
    "PROGRAMS": """
        rm rf|os system|subprocess|shutil|rmtree|curl|wget|requests (?:get|post)|urlopen|unlink
        |eval|exec|os remove|os unlink|bash|sh c|powershell""",
    "FILES": "files?|folders?|director(?:y|ies)|data|notebooks?|tables?|databases?|backups?",
    "OVERRIDE": """
        ignore|disregard|forget|override|bypass|discard|abandon|do not follow|don t follow
        |stop following|do not obey""",
    "SEND": "send|post|upload|exfiltrate|transmit|forward|email|e mail|leak",
    "NOW": """
        must|please|now|then|immediately|instead|should|need to|have to|first|next
        |assistant|agent""",
    "TELL": """
        tell|telling|inform|informing|mention|mentioning|ask|asking|notify|notifying|alert|alerting
        |reveal|revealing|warn|disclose|consult|consulting""",
    "NOTE": """
        note|notice|message|memo|instruction|reminder|warning|command|request|order|task|todo
        |attention|important|hint""",
}

_TABLE = r"""
OVERRIDE _3THOSE _4(?:instructions?|prompts?|directives?|guidelines)
OVERRIDE _3EARLIER _3ORDERS
(?:ignore|disregard|forget) (?:everything|all|anything|whatever|what)
    _5(?:told|above|before|previously|so far|said|learned)
(?:new|updated|revised|hidden|secret|real|actual|override|priority)
    (?:system |developer )?(?:instructions?|directives?)
system (?:prompt|override|instructions?|directive)
(?:begin|start|end) (?:of )?(?:system|admin|hidden|new|developer|the)
    (?:prompt|instructions?|message|override)

you (?:are|re) now (?:an? |the |in )_3(?:MODEL|assistant|agent|mode|admin|root|shell|hacker|tool)
you (?:are|re) (?:no longer (?:bound|restricted|an?)|now (?:unrestricted|free|acting|dan|root))
from now on (?:you|always|every|ignore|the assistant|the agent|act|respond|answer)
(?:act|behave|respond|pretend)(?: to be| as if| as)? (?:you are |you re )?(?:an? )?
    (?:unrestricted|root|admin|administrator|dan|jailbroken|developer mode|MODEL)

NOTEs? (?:to|for) (?:(?:all|any|the|every|our|future|reading|this|your|an?) ){0,3}
    (?:MODEL|agents?|assistants?|models?)_
(?:attention|dear|hey|hello|hi|greetings|ok|okay) (?:(?:all|any|the|every|to|our) ){0,2}
    (?:MODEL|assistant)
(?:if|when|since|because) you (?:are|re) (?:an?|the) _2(?:MODEL|assistant|agent)
(?:as an|you are an?|you re an?) (?:MODEL|helpful assistant|obedient)
MODEL (?:reading|processing|analy[sz]ing|seeing|parsing|viewing|must|please|has to|have to
    |needs? to run|is required|are required|shall)
(?:assistant|agent) (?:must|shall|please|has to) (?:now )?
    (?:run|execute|call|delete|remove|send|upload|install|download|fetch|post|write|ignore)

(?:do not|don t|dont|never|without|avoid) _2TELL _4PEOPLE_
without (?:asking|waiting|seeking|requesting) (?:for )?
    (?:any |further |the users |user |their )?(?:permission|confirmation|approval|consent)
PERSON (?:has |have )?(?:already |fully |pre ?|explicitly ){0,2}
    (?:approved|authori[sz]ed|consented to|agreed to)
    (?:this|the|all|every|these|any|it|running|you)
PERSON (?:has |have )?(?:asked|told|instructed|ordered|wants|needs|requires) you to
you (?:have|are|now have) (?:(?:now|already|full|been|hereby|explicit|my|root|admin|pre) ){0,3}
    (?:permission|authori[sz]ation|authori[sz]ed|clearance|consent)

SEND _8SECRETS _6(?:to|via|at|by|as|into)_
SEND (?:all|the|this|your|its|every|a copy|contents?|everything|it) _8(?:to|at) _3(?:https?)_
NOW _3(?:run|execute|exec|eval|call|invoke|use) _6PROGRAMS_
NOW _2(?:delete|erase|wipe|destroy|remove|overwrite|drop)
    (?:all|every|each|any|the|this|your) _4FILES_

(?:ignoriere?|vergiss|missachte) _4(?:anweisung(?:en)?|vorgaben|regeln|instruktionen)
(?:ignore|ignorez|ignorer|oublie|oubliez|oublier) _4(?:instructions|consignes)
(?:ignora|ignore|olvida|olvide|esquece|esqueça|ignorar)
    _4(?:instrucciones|instruções|istruzioni|indicaciones)
(?:игнорируй|игнорируйте|забудь|забудьте) _4(?:инструкци\w|указани\w|команд\w)
"""
"""In order: override earlier instructions; take another role; address the model; act behind the
person's back or in their name; do something; override in other languages."""

WITHOUT_BLANKS = re.compile(
    r"(?:忽略|无视|忘记|忽視|無視)\w{0,12}(?:指令|指示|提示|说明|規則|规则)"
    r"|(?:以前|これまで|上記|前)\w{0,8}(?:指示|命令|プロンプト)\w{0,4}(?:無視|忘れ)"
)
"""Overrides in languages without blanks between words."""


_LINE_END = r"\s*\n\s*"


def _rows() -> Iterator[str]:
    for row in re.split(r"\n+(?! )", _TABLE.strip()):
        text = re.sub(r"\n +(?=\|)", "", row)
        # An optional part ends with a blank already.
        text = re.sub(r"([}?])\n +", r"\1", text)
        text = re.sub(r"\n +", " ", text)
        text = re.sub(r"_(\d)", r"(?:\\w{1,25} ){0,\1}", text)
        for name, words in _GROUPS.items():
            text = text.replace(name, f"(?:{re.sub(_LINE_END, '', words)})")
        yield re.sub(r"\)(s\?)?_", r")\1 ", text)


def by_start() -> dict[str, str]:
    """Patterns by first word, each of all phrases that may begin with that word."""
    found: dict[str, list[str]] = {}
    for row in _rows():
        for word in _starts(row):
            found.setdefault(word, []).append(row)
    return {word: "|".join(rows) for word, rows in found.items()}


def _starts(row: str) -> set[str]:
    """Possible first words of a phrase: all words of its first group, so perhaps too many."""
    depth = 0
    for end, sign in enumerate(row):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign in ") ":
            row = row[: end + 1]
            break
    words = set(re.findall(r"\w+", row.replace("?:", "")))
    return {form for word in words for form in (word, f"{word}s", word.removesuffix("s"))}


MOST, LONGEST = 3, 160
"""Maximum number of quotations, and of characters of each."""

_INVISIBLE = re.compile(
    "[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Invisible copies of ASCII."""
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_ENTITY = re.compile(r"&#(?:(\d{1,6})|[xX]([0-9a-fA-F]{1,5}));?")
_BREAK = re.compile(r"\\[nrt]|(?<=[a-z])(?=[A-Z])")
"""Escaped line ends, and word starts in names such as ``ignoreAllInstructions``."""
_WORD = re.compile(r"[^\W_]+")
_ALIKE = str.maketrans("асеорхуіѕкνοιτυηκαρвнмтԁɡ", "aceopxyisknoitunkapbhmtdg")


_TOKEN = re.compile(
    r"<\\?\|(?:im_start|im_end|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id)"
    r"\|?>|\[/?INST\]|<\\?<\\?/?SYS>>|<\\?/?(?:system|instructions?|tool_call|function_calls?)>"
    r"|(?:^|\n)[ \t]{0,20}(?:#{1,6} {0,3})?(?:Human|Assistant) {0,3}:"
)
"""Markers that separate the messages of a model's conversation."""
_BY_START = by_start()


def signs(text: str, most: int = MOST, told: Container[str] = ()) -> list[str]:
    """The first ``most`` phrases that read like instructions, each with the plain words up to the
    end of its line or of its tag, except those in ``told``."""
    found = dict.fromkeys(sign for sign in _signs(text) if sign not in told)
    return list(islice(found, most))


def _signs(text: str) -> Iterator[str]:
    lines = [line for line in text.replace("</", "\n</").splitlines() if not line.isspace()]
    plain = [_plain(line).lstrip(" ") for line in lines]
    begins = list(accumulate(map(len, plain), initial=0))
    words = "".join(plain)
    spans = {span for one in {words, words.translate(_ALIKE)} for span in _phrases(one)}
    for number, line in enumerate(lines):
        if token := _TOKEN.search(line):
            spans.add((begins[number], begins[number] + len(_plain(line[: token.end()]))))
    until = 0
    for start, end in sorted(spans):
        if start >= until:  # Else in a line that is quoted already.
            until = begins[bisect_left(begins, end)]
            yield words[start : min(until, start + LONGEST)].strip()


def _phrases(words: str) -> Iterator[tuple[int, int]]:
    """Where phrases begin and end."""
    place = end = 0
    for word in words.split(" "):
        if place >= end and word in _BY_START and (found := _pattern(word).match(words, place)):
            end = found.end()
            yield place, end
        place += len(word) + 1
    if not words.isascii():
        yield from (found.span() for found in WITHOUT_BLANKS.finditer(words))


@cache
def _pattern(start: str) -> re.Pattern[str]:
    return re.compile(_BY_START[start])


def _plain(text: str) -> str:
    """The words of a text, in lower case, with a blank after each."""
    if "&" in text:
        text = _ENTITY.sub(
            lambda found: chr(int(found[1] or found[2], 10 if found[1] else 16)), text
        )
    if "\\u" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    if not text.isascii():
        text = _TAGS.sub(_visible, _INVISIBLE.sub("", text))
    words = " ".join(_WORD.findall(_BREAK.sub(" ", text)))
    if not words.isascii():
        # ``_WORD`` dropped combining marks, which are slow to normalize.
        words = unicodedata.normalize("NFKC", words)
    return f"{words.lower()} "


def _visible(tags: re.Match[str]) -> str:
    return " " + "".join(chr(ord(tag) - 0xE0000) for tag in tags[0])
