"""Checks the text of the agent's Markdown cells before they are written.

JupyterLab renders Markdown cells at once, and again for everyone who opens the file. Plain
Markdown is written, text that may load or run something asks the person, and text that is nested
too deep is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ...base.off_loop import off_loop
from ...base.sentences import Sentence

# -------------------------------------------------------------------------------------------------
# Formulas that are typeset: short, flat and with harmless commands only.
#
# MathJax has commands that make links, load images, define macros and set styles. So a formula
# with a command that is not listed here is shown as source. `scripts/protocol.py` writes the list
# for the browser into `src/markdown/formula-names.ts`.

DEEPEST = 40
"""Levels of braces, environments and `\\left`. Some browsers fail at 100."""
LONGEST = 4_000
"""Characters of one formula."""

_GREEK = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu
nu xi omicron pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta
Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega digamma ell hbar imath jmath wp Re Im aleph beth
"""
_SYMBOLS = """
infty partial nabla forall exists nexists emptyset varnothing angle triangle square Box degree
prime backprime neg lnot surd top bot flat natural sharp checkmark dagger ddagger S P copyright
pm mp times div ast star circ bullet cdot cap cup uplus sqcap sqcup vee wedge lor land setminus
wr diamond oplus ominus otimes oslash odot amalg ltimes rtimes dotplus
le leq leqslant ge geq geqslant ll gg lll ggg equiv sim simeq approx approxeq cong ne neq doteq
propto prec succ preceq succeq subset supset subseteq supseteq subsetneq supsetneq sqsubseteq
sqsupseteq in ni notin owns mid nmid parallel nparallel perp models vdash dashv Vdash vDash
asymp bowtie smile frown lesssim gtrsim lt gt triangleq coloneqq eqqcolon therefore because not
to gets leftarrow rightarrow Leftarrow Rightarrow leftrightarrow Leftrightarrow longleftarrow
longrightarrow Longleftarrow Longrightarrow longleftrightarrow Longleftrightarrow iff implies
impliedby mapsto longmapsto uparrow downarrow updownarrow Uparrow Downarrow Updownarrow nearrow
searrow swarrow nwarrow hookleftarrow hookrightarrow rightharpoonup rightharpoondown
leftharpoonup leftharpoondown rightleftharpoons rightsquigarrow leadsto
ldots cdots vdots ddots dots dotsc dotsb dotsm dotsi dotso colon lbrace rbrace lbrack rbrack
langle rangle lfloor rfloor lceil rceil vert Vert lvert rvert lVert rVert backslash
"""
_OPERATORS = """
sum prod coprod int iint iiint oint bigcap bigcup bigsqcup bigvee bigwedge bigodot bigotimes
bigoplus biguplus arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker
lg lim liminf limsup ln log max min Pr sec sin sinh sup tan tanh bmod pmod mod limits nolimits
operatorname
"""
_PARTS = """
frac dfrac tfrac cfrac binom dbinom tbinom sqrt overline underline overbrace underbrace
overset underset stackrel hat widehat check breve acute grave tilde widetilde bar vec dot ddot
dddot mathring overrightarrow overleftarrow boxed phantom hphantom vphantom substack
left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm
begin end hline cr text textbf textit textrm texttt textsf mbox mathrm mathbf mathit mathsf
mathtt mathbb mathcal mathfrak mathscr mathop mathbin mathrel mathord bm boldsymbol rm bf it
displaystyle textstyle scriptstyle quad qquad enspace thinspace
"""
_ENVIRONMENTS = """
matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix array cases rcases aligned align align*
gathered gather gather* split equation equation* multline multline* alignat alignat* alignedat
"""
ENVIRONMENTS = frozenset(_ENVIRONMENTS.split())
COMMANDS = frozenset(f"{_GREEK} {_SYMBOLS} {_OPERATORS} {_PARTS}".split())
SIGNS = frozenset(" \n\t\\,;:!>{}$%&#_|.'")
"""Signs allowed after a backslash, besides names."""


MarkdownRisks = Callable[[str], tuple[Sentence, ...]]
"""Returns a line for each thing that may load or run when a text is shown; () if plain."""

NOT_CHECKED = Sentence("Could not check whether this text loads or runs something when shown.")
TOO_DEEP = 60
"""Levels of nesting. The time to render grows fast with the depth; some browsers fail at 100."""
_COST = 20
"""Time per character that a Markdown parser takes, relative to a pattern."""

_START = re.compile(r"(?:[ \t>*+-]|\d{1,9}[.)])*")
_CONTAINER = re.compile(r"[>*+-]|\d[.)]")
_TEX = re.compile(r"\\(?:begin|end|left|right)(?![A-Za-z])|\\[\s\S]|[{}%\n]")
_OPENS = ("{", "\\begin", "\\left")
_CLOSES = ("}", "\\end", "\\right")


def not_checked(text: str) -> tuple[Sentence, ...]:
    """The answer without a checker, so that the person is asked."""
    return (NOT_CHECKED,)


async def risks(check: MarkdownRisks, text: str) -> tuple[Sentence, ...]:
    """``check``'s answer, off the event loop for a long text. If the check fails, the person is
    asked."""
    return await off_loop(partial(check, text), _COST * len(text), lambda: (NOT_CHECKED,))


def too_deep(text: str) -> Sentence:
    """A sentence for the model if the text is nested too deep to show; else ""."""
    deepest = nesting(text)
    if deepest <= TOO_DEEP:
        return Sentence()
    return Sentence(
        "This text is nested {levels} levels deep (formulas, quotes, lists). Browsers cannot "
        "show that. Use at most 40 levels.",
        levels=deepest,
    )


def nesting(text: str) -> int:
    """An upper bound of the levels of quotes, lists and formulas. Linear in the length."""
    return max(_containers(text), _braces(text))


def _containers(text: str) -> int:
    deepest = 0
    for line in text.splitlines():
        start = _START.match(line)
        signs = len(_CONTAINER.findall(start[0])) if start else 0
        if start and signs:
            # A list needs two columns per level. A line with blanks only at its start is code.
            blanks = start[0].count(" ") + 4 * start[0].count("\t")
            deepest = max(deepest, signs, blanks // 2)
    return deepest


def _braces(text: str) -> int:
    """Levels of formulas; a blank line ends one. Text after a % may be a comment, so it closes
    nothing."""
    deepest = 0
    levels = [0, 0, 0]
    comment = False
    end = -1
    for sign in _TEX.finditer(text):
        if sign[0] == "\n":
            if not text[end + 1 : sign.start()].strip():
                levels = [0, 0, 0]
            comment, end = False, sign.start()
        elif sign[0] == "%":
            comment = True
        elif sign[0] in _OPENS:
            levels[_OPENS.index(sign[0])] += 1
            deepest = max(deepest, sum(levels))
        elif sign[0] in _CLOSES and not comment:
            kind = _CLOSES.index(sign[0])
            levels[kind] = max(0, levels[kind] - 1)
    return deepest
