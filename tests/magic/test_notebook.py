"""``%%ai`` in a real ipykernel: the answer, the code that it runs, and what it is told."""

from __future__ import annotations

from pathlib import Path

from tests.fake_anthropic import (
    FakeAnthropic,
    Request,
    Turn,
    answer,
    by_words,
    call,
    echo,
    edit_cell,
    run_cell,
    scenario,
    text,
)
from tests.magic.notebooks import prompts, run, said


async def test_code_runs_in_the_namespace_is_mended_and_answered(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("I add them."), run_cell("total = sum(valuess)\nprint('nev' + 'er')")),
            lambda request: answer(edit_cell(request.last_cell, "total = sum(values)\ntotal")),
            answer(text("The total is **6**.")),
        ]
    )
    look = "print(sorted(name for name in set(globals()) - before if not name.startswith('_')))"
    _, _, asked, after, left, history = await run(
        api,
        "before = None; before = set(globals())",
        "values = [1, 2, 3]",
        "%%ai -y\nadd up {values}",
        "print(total)",
        look,
        "In[4:5], len(Out)",
    )
    shown = said(asked)
    assert shown.index("I add them.") < shown.index("total = sum(valuess)")
    assert shown.index("NameError") < shown.index("total = sum(values)\ntotal")
    assert "The total is **6**." in shown and "never" not in shown
    assert said(after) == "6\n" and said(left) == "['total', 'values']\n"
    assert "add up" in said(history), "it has the cell, not what ran for it"
    assert "add up [1, 2, 3]" in prompts(api)[0]
    assert any(output.get("data", {}).get("text/plain") == "6" for output in asked["outputs"])


NASTY = [
    'a dict {"a": 1, "b": [2, {"c": 3}]}',
    '{"name": "n", "nested": {"x": {"y": {}}}}',
    "f'{n:>10}' and f\"{n!r} {n + 1}\"",
    r"\frac{1}{2} \sum_{i=0}^{10} \mathbb{R}^{k}",
    r"$\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$",
    "{} and {0} and {1:d}",
    "{unknown} {no_such_name}",
    "{ n } {n.real} {n[0]} {n()} {n!r}",
    "{__import__('os').system('touch ran')}",
    "{open('ran', 'w')}",
    "open { only",
    "close } only",
    "}{ the wrong way",
    "{n",
    "n}",
    "{'n'}",
    "${n_} $HOME $(touch ran) `touch ran` %s %(n)s",
    "a set {1, 2, 3} and {*range(3)}",
    "css: p { color: red; } q{margin:0}",
    "def f():\n    return {k: v for k, v in {}.items()}",
    "jinja {% if n %} {# n #}",
    "{get_ipython} {In} {_ih} {exit}",
    "emoji {😀} {ñ} {变量}",
]
"""Stay as they are: no name in braces is a variable's."""
PUT_IN = {
    "{n} and {word}": "7 and seven",
    "{{n}} is not {n}": "{n} is not 7",
    "{{{n}}}": "{7}",
    '{"a": {n}}': '{"a": 7}',
    "f({{'a': 1}})": "f({'a': 1})",
    "{broken}": "[broken: Broken, not shown (ZeroDivisionError)]",
}
SET_UP = """\
import pandas
df = pandas.DataFrame({'day': range(100000), 'sales': 2.5})
n, word = 7, "seven"
class Broken:
    def __repr__(self):
        return str(1 / 0)
broken = Broken()"""


async def test_braces(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Read.")))
    wanted = {**{prompt: prompt for prompt in NASTY}, **PUT_IN}
    cells = [f"%%ai -t --no-context\n{prompt}" for prompt in wanted]
    lines = ["%%ai -t --no-context -- {n} {os.sep} $n", "%%ai -t --no-context\nlook at {df}"]
    ran = await run(api, SET_UP, *cells, *lines, folder=tmp_path)
    assert [said(cell) for cell in ran[1:]] == ["Read."] * len(ran[1:])
    heard = [prompt.rpartition("\n\n[This is a question")[0] for prompt in prompts(api)]
    heard.pop()
    table = prompts(api)[-1]
    assert "df (DataFrame, 100,000 rows, 2 columns)\nday: int64, sales: float64\n" in table
    assert "\n4    4    2.5\n" in table and "\n5 " not in table
    for text_, prompt in zip([*wanted.values(), "7 {os.sep} $n"], heard, strict=True):
        assert prompt.endswith(f"\n{text_}"), (prompt[-200:], text_)
    assert not (tmp_path / "ran").exists()


async def test_what_the_model_is_told(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Read.")))
    (tmp_path / "sales.csv").write_text("a,b\n")
    (tmp_path / "AGENTS.md").write_text("Use polars.", "utf-8")
    (tmp_path / ".codeinterp").mkdir()
    (tmp_path / ".codeinterp" / "rules.md").write_text("Answer in French.", "utf-8")
    (tmp_path / "work").mkdir()
    book = await run(
        api,
        "revenue = 1234\nrevenue + 1",
        "revenue / nought",
        "%%ai -t --no-context\nwhat is there?",
        "%%ai -t\nwhat is there?",
        "%%ai -t\nand now?",
        "more = 'hippo'",
        "%%ai -t --no-context\nhi",
        folder=tmp_path,
        fails=True,
    )
    nothing, told, later, untold = prompts(api)
    assert "revenue" not in nothing and "sales.csv" not in nothing
    assert '<cell id="in-2"' in told and "revenue + 1" in told and "1235" in told
    assert "NameError: name 'nought' is not defined" in told
    assert "revenue: int value=1234" in told and "sales.csv" in told
    assert "Use polars." in told and "Answer in French." in told
    assert later.count("nought") == told.count("nought"), "only what is new"
    assert "hippo" not in untold and "were removed" not in untold
    assert untold.count("<changes>") == later.count("<changes>"), "nor that something has gone"
    assert said(book[4]) == "Read."
    await run(api, "%%ai -t\nHello", folder=tmp_path / "work")
    assert "Use polars." not in prompts(api)[-1], "how far up is not known here"


async def test_without_anybody_to_ask_code_is_shown_and_not_run(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(run_cell("made = 1")),
            answer(run_cell("made = 1 # \u200b")),
            answer(text("Without it.")),
        ]
    )
    ran = await run(api, "%%ai\nmake it", "%%ai -y\nhide it", "'made' in globals()")
    assert "Nobody can be asked" not in prompts(api)[0]
    assert "Nobody can be asked: the person's cells can be run" in prompts(api)[1]
    assert "made = 1" in said(ran[0]) and "Not run: no one can be asked here." in said(ran[0])
    assert "even with -y" in said(ran[1])
    assert said(ran[2]) == "False" and len(api.requests) == 3


async def test_forms_of_the_answer_and_where_it_is_kept(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("Here:\n```python\nx = 1\n```\n")),
            answer(text('```json\n{"a": [1, 2]}\n```')),
            answer(text("It is *so*.")),
            answer(text("**Bold**.")),
            answer(text("no json")),
        ]
    )
    ran = await run(
        api,
        "%%ai --as code --store code\nwrite it",
        "%%ai --as json --store data\nlist it",
        "%%ai --as text --store words\nsay it",
        "%%ai --store marked\nmark it",
        "%%ai --again --as json --store data\nlist it",
        "(code, data, words, marked)",
    )
    assert said(ran[0]) == "```python\nx = 1\n```"
    assert said(ran[1]) == '{\n  "a": [\n    1,\n    2\n  ]\n}'
    assert ran[2]["outputs"][0]["data"] == {"text/plain": "It is *so*."}
    assert said(ran[3]) == "**Bold**."
    assert "The answer is not JSON. It was not stored." in said(ran[4])
    assert said(ran[5]) == "('x = 1', {'a': [1, 2]}, 'It is *so*.', '**Bold**.')"


async def test_plan_steps_cell_and_model(api: FakeAnthropic) -> None:
    def work(request: Request) -> Turn:
        return answer(run_cell(f"step = {request.step}"))

    api.play(
        by_words(
            {
                "plan": scenario(answer(run_cell("ran = 1")), answer(text("First, then."))),
                "steps": work,
                "cell": scenario(answer(run_cell("ran = 1"))),
                "whichmodel": lambda request: answer(text(str(request.body["model"]))),
            },
            echo,
        )
    )
    ran = await run(
        api,
        "%%ai --plan\n#plan",
        "%%ai -y --max-steps 2\n#steps",
        "%%ai --cell -y\n#cell",
        "%%ai -t -m claude-opus-5-5 --max-steps 5\n#whichmodel",
        "%ai model claude-haiku-5-5",
        "%ai model nosuch/thing",
        "%%ai -t\n#whichmodel",
        "'ran' in globals(), step",
    )
    assert said(ran[0]) == "First, then."
    assert "Stopped at the limit of 2 model calls for a turn." in said(ran[1])
    assert said(ran[2]) == "```python\nran = 1\n```\nThe code is in a new cell below.\n"
    assert said(ran[3]).endswith("claude-opus-5-5")
    assert said(ran[4]) == "The model is claude-haiku-5-5.\n"
    assert "There is no model “nosuch/thing” here." in said(ran[5])
    assert said(ran[6]).endswith("claude-haiku-5-5")
    assert said(ran[7]) == "(False, 0)"


async def test_a_question_in_one_line(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text(f"Asked: {request.said[-1]}")))
    ran = await run(api, "%ai what is a monoid?", "%ai -t in short", "%ai modles")
    assert said(ran[0]) == "Asked: what is a monoid?" and "in short" in said(ran[1])
    assert "Unknown command: %ai modles" in str(ran[2]["outputs"]) and len(api.requests) == 2


async def test_commands(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Told.")))
    ran = await run(
        api,
        "%ai usage",
        "%ai reset",
        "%ai explain",
        "%ai fix",
        "wanted = 1\nwnated + 1",
        "%ai fix",
        "%ai explain",
        "%ai models",
        "%ai usage",
        "%ai reset",
        "%ai stop",
        "%ai help",
        "%ai",
        "%ai --help",
        fails=True,
    )
    shown = [said(cell) for cell in ran]
    assert shown[:2] == [
        "This conversation is still empty.\n",
        "No conversation to forget.\n",
    ]
    assert shown[2:4] == [
        "No cell has run before this one. Nothing to explain.\n",
        "No cell has failed. Nothing to fix.\n",
    ]
    assert shown[5] == shown[6] == "Told."
    assert "The cell in-6 failed with NameError." in prompts(api)[0]
    assert "name 'wnated' is not defined" in prompts(api)[0]
    assert "Explain the cell in-6" in prompts(api)[1]
    assert "* claude-sonnet-5-5  Claude Sonnet 5.5\n" in shown[7]
    assert "tokens read" in shown[8] and "context used" in shown[8]
    assert "cost unknown" in shown[8], "the server's address is not Anthropic's"
    assert shown[9:11] == ["Conversation forgotten.\n", "Nothing is waiting.\n"]
    assert "--max-steps N" in shown[11] and len({words.rstrip() for words in shown[11:]}) == 1


async def test_bad_input_is_a_line_in_words(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Told.")))
    wrong = {
        "%%ai\n": "The prompt is empty",
        "%%ai\nUse sk-ant-api03-Zq7Tr4Wm9KxPv2Bn8Lc": "looks like an API key",
        "%%ai -y\n   \n": "The prompt is empty",
        "%%ai --yess\nx": "There is no option --yess. Did you mean --yes?",
        "%%ai -m\nx": "-m needs a value: -m MODEL",
        "%%ai --as xml\nx": "--as takes one of markdown, text, code, json, not “xml”.",
        "%%ai --max-steps 0\nx": "--max-steps takes a number from 1 to 1,000.",
        "%%ai --max-steps ²\nx": "--max-steps takes a number",
        "%%ai --store 1x\nx": "--store takes the name of a variable, not “1x”.",
        "%%ai --store for\nx": "--store takes the name of a variable, not “for”.",
        "%%ai -y -t\nx": "-y runs code, but -t and --plan run nothing.",
        "%%ai -t -m no-such-model\nx": "no-such-model",
        "%ai frobnicate": "Unknown command: %ai frobnicate. The commands are fix, explain,",
        "%ai model a b": "%ai model takes one name",
        "%ai reset now": "%ai reset takes no argument, but got “now”.",
        "%ai fix --no-context": "needs the context",
    }
    ran = await run(api, *wrong)
    for cell, words in zip(ran, wrong.values(), strict=True):
        (output,) = cell["outputs"]
        assert output["output_type"] == "stream" and output["name"] == "stderr"
        assert words in output["text"] and output["text"].count("\n") == 1, output["text"]
    assert "sk-ant" not in str([exchange.body for exchange in api.requests])


async def test_it_stays_in_its_notebook_and_kernel(api: FakeAnthropic) -> None:
    restart = answer(call("kernel", {"action": "restart"}))
    onward = answer(call("new_notebook", {"name": "b", "task": "Go on."}))
    api.play([restart, answer(text("Then you do it.")), onward, answer(text("Then here."))])
    cells = ("kept = 6", "%%ai -y\nrestart", "print(kept)", "%%ai -y\nelsewhere")
    _, asked, after, elsewhere = await run(api, *cells)
    assert "Then you do it." in said(asked) and said(after) == "6\n"
    assert "Then here." in said(elsewhere)
    for number in (1, 3):
        assert "Not available here" in Request(api.requests[number].body).results[-1]
