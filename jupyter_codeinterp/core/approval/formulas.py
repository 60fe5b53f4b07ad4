"""Which formulas are typeset: those of a few harmless commands, not too long, not too deep.

MathJax has commands that make links, load images, define macros and set styles. So a formula
is typeset only if all of its commands are on this list; any other stays its source. The
browser has the same list: `scripts/protocol.py` writes it into `src/markdown/formula-names.ts`.
"""

from __future__ import annotations

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
"""What may follow a backslash, besides a name."""
