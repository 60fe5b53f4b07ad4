from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_client.manager import start_new_kernel
from PIL import Image as Pillow

from jupyter_codeinterp.view import images, outputs
from jupyter_codeinterp.view.html_text import LIMIT, strip_html
from jupyter_codeinterp.view.outputs import Seen, excerpt, full_text, read, result_text, see
from jupyter_codeinterp.view.plain_text import clean, cut, ends

Output = dict[str, Any]
ESC = "\x1b"


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def display(**data: Any) -> Output:
    bundle = {key.replace("__", "/").replace("_xml", "+xml"): value for key, value in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def error(*traceback: str, ename: str = "KeyError", evalue: str = "'b'") -> Output:
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": list(traceback)}


def picture(width: int = 4, height: int = 3, kind: str = "PNG", noise: bool = False) -> bytes:
    image = Pillow.new("RGB", (width, height), "red")
    if noise:
        image = Pillow.effect_noise((width, height), 200)
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


PNG = encoded(picture())
JPEG = encoded(picture(kind="JPEG"))


# --- text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ntext\t1", "plain\ntext\t1"),
        (f"{ESC}[1;31mred{ESC}[0m", "red"),
        (f"{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        (f"{ESC}]0;title\x07text", "text"),
        (f"a{ESC}(Bb", "ab"),
        ("  0%|  | 0/2\r 50%|# | 1/2\r100%|##| 2/2\n", "100%|##| 2/2\n"),
        ("long line\rshort", "shortline"),
        ("windows\r\nends\r\n", "windows\nends\n"),
        (f"working…\r{ESC}[Kdone", "done"),
        (f"working…{ESC}[2K\rdone", "done"),
        ("keras\b\b\b\b\b\rdone!", "done!"),
        (f"a{ESC}[99Ab", "ab"),
        ("nul\0bell\x07", "nulbell"),
        ("half \ud800 pair", "half ? pair"),
        ("![x](data:image/png;base64," + "A" * 400 + ")", "![x](data:image/png;base64,[…])"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(alphabet=st.sampled_from(f"ab\n\r\b{ESC}[]AK2;m\x07"), max_size=200))
def test_clean_leaves_no_controls(text: str) -> None:
    assert not set(clean(text)) & set(f"{ESC}\r\b\x07")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>bold</b> &amp; &lt;x&gt;", "bold & <x>"),
        ("<table><tr><th></th><th>a</th></tr>\n<tr><td>0</td><td>1</td></tr></table>", "a\n0\t1"),
        ("<style>p{}</style><script>evil()</script><p>one</p><p>two</p>", "one\ntwo"),
        ("<div>a<br>b</div>", "a\nb"),
        ("<svg><text>x</text></svg>after", "after"),
        ("<script>never closed", ""),
        ("</script>stray", "stray"),
    ],
)
def test_strip_html(html: str, expected: str) -> None:
    assert strip_html(html) == expected


@given(st.text(alphabet="ab\n", min_size=1, max_size=600), st.integers(60, 300))
def test_cut_keeps_within_its_limit_and_both_ends(text: str, limit: int) -> None:
    said = cut(text, limit)
    assert len(said) <= limit
    if len(text) <= limit:
        assert said == text
    else:
        head, foot = ends(text, limit - 50)
        assert text.startswith(head) and text.endswith(foot)
        left_out = len(text) - len(head) - len(foot)
        assert f"{left_out:,} characters left out" in said


# --- which representation ------------------------------------------------------------

FIGURE = "<Figure size 640x480 with 1 Axes>"
BARE = "<IPython.core.display.HTML object>"
VEGA = "<VegaLite 5 object>"
ALTAIR_HTML = "\n<style>#altair-viz-1 {}</style><div id='altair-viz-1'></div>\n<script>x()</script>"
HIDDEN = "[not shown to you: {}]"
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "abc"}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"text/plain": "42", "text/html": "<b>42</b>"}, "42"),
        ({"text/plain": BARE, "text/html": "<b>42</b>"}, "42"),
        ({"text/plain": "<Styler at 0x7f00>", "text/html": "<td>1</td>"}, "1"),
        ({"text/html": "<b>only</b>"}, "only"),
        ({"text/plain": "<Markdown object>", "text/markdown": "# Hi"}, "# Hi"),
        ({"text/plain": "x**2", "text/latex": "$x^2$"}, "$x^2$"),
        (
            {"text/plain": "<JSON object>", "application/json": {"a": ["é"]}},
            '{\n "a": [\n  "é"\n ]\n}',
        ),
        ({"text/plain": "IntSlider(value=0)", **WIDGET}, "[widget: IntSlider(value=0)]"),
        (WIDGET, "[widget]"),
        ({"application/javascript": "alert(1)"}, "[application/javascript not shown]"),
        ({"image/svg+xml": "<svg/>", "text/plain": FIGURE}, HIDDEN.format("SVG")),
        ({"image/svg+xml": "<svg/>"}, HIDDEN.format("SVG")),
        ({"image/gif": PNG, "text/plain": BARE}, HIDDEN.format("picture")),
        ({"application/vnd.plotly.v1+json": {"data": [1]}}, HIDDEN.format("Plotly chart")),
        (
            {
                "application/vnd.plotly.v1+json": {},
                "text/html": "<b>x",
                "text/plain": "Figure({1})",
            },
            HIDDEN.format("Plotly chart") + "\nFigure({1})",
        ),
        (
            {"application/vnd.vegalite.v5+json": {}, "text/plain": f"{VEGA}\n\nIf you see this"},
            HIDDEN.format("Altair chart"),
        ),
        # What Altair 6 gives where it does not know the front end.
        (
            {"text/plain": "alt.Chart(...)", "text/html": ALTAIR_HTML},
            HIDDEN.format("interactive HTML") + "\nalt.Chart(...)",
        ),
        (
            {"text/plain": "LinearRegression()", "text/html": "<p>Linear</p><script>x()</script>"},
            "LinearRegression()",
        ),
        (
            {**WIDGET, "text/plain": "<altair.jupyter.jupyter_chart.JupyterChart object at 0x7f>"},
            HIDDEN.format("Altair chart"),
        ),
        (
            {**WIDGET, "text/plain": "<ipyleaflet.Map object at 0x7f>"},
            HIDDEN.format("widget Map"),
        ),
        (
            {**WIDGET, "text/plain": "FigureWidget({\n    'data': []})"},
            HIDDEN.format("Plotly chart") + "\nFigureWidget({\n    'data': []})",
        ),
        ({**WIDGET, "text/plain": "Image(value=b'\\x89PNG')"}, HIDDEN.format("picture")),
        (
            {**WIDGET, "text/plain": "  0%|          | 0/5 [00:00<?, ?it/s]"},
            "[widget:   0%|          | 0/5 [00:00<?, ?it/s]]",
        ),
        (
            {
                "text/plain": BARE,
                "text/html": "<audio controls><source src='data:x'/>No audio here.</audio>",
            },
            HIDDEN.format("audio"),
        ),
        ({"text/plain": FIGURE}, HIDDEN.format(FIGURE[1:-1])),
        (
            {"text/plain": "<PIL.Image.Image image mode=F size=9x9 at 0x7f>"},
            HIDDEN.format("PIL.Image.Image image mode=F size=9x9 at 0x7f"),
        ),
        ({"text/plain": BARE, "text/html": "<video src='data:x'>"}, HIDDEN.format("video")),
        (
            {"text/html": "<p>Trust this</p><IFRAME src='x'>"},
            "Trust this\n" + HIDDEN.format("embedded page"),
        ),
        (
            {"text/html": "<div></div><script>Plotly.x()</script>"},
            HIDDEN.format("interactive HTML"),
        ),
        (
            {"text/html": f"<p>a</p><img src='data:image/png;base64,{PNG}'>"},
            "[image: the first one in HTML]",
        ),
        (
            {"text/html": f"<img src='data:image/png;base64,{PNG}'>", "text/plain": "a  b\n0  1"},
            "a  b\n0  1",
        ),
        (
            {**WIDGET, "image/png": PNG, "text/plain": "Canvas(toolbar=1)"},
            "[image: Canvas(toolbar=1)]",
        ),
        ({"image/png": PNG, "text/plain": FIGURE}, f"[image: {FIGURE}]"),
        ({"image/jpeg": JPEG}, "[image: image/jpeg]"),
        ({"text/plain": ["a\n", "b"]}, "a\nb"),
        ({}, ""),
    ],
)
def test_representation(data: dict[str, Any], expected: str) -> None:
    assert see([{"output_type": "execute_result", "data": data}], images_left=9).text == expected


def test_outputs_stay_in_order_and_streams_go_on() -> None:
    outputs = [
        stream("50%\r"),
        stream("100%\n"),
        stream("warned\n", "stderr"),
        display(text__plain="shown"),
        stream("after"),
    ]
    assert see(outputs, images_left=0).text == "100%\n[stderr]\nwarned\nshown\nafter"


def test_nothing() -> None:
    assert see([], images_left=3) == Seen("")
    assert see([stream("\n\n")], images_left=3) == Seen("")


# --- bounds --------------------------------------------------------------------------


def test_long_output_says_where_to_read_on() -> None:
    text = "\n".join(f"line {n}" for n in range(20_000))
    said = see([stream(text)], images_left=0).text
    assert len(said) <= 10_000
    head, _, foot = said.partition("\n[… ")
    assert 5_000 < len(head) < 6_000 and 3_500 < len(foot) < 4_200
    assert head.endswith(text[: len(head)][-20:]) and foot.endswith("line 19999")
    assert f"start_char={len(head)})" in foot
    assert excerpt(full_text([stream(text)]), len(head), 50).endswith(text[len(head) :][:50])


def test_a_traceback_survives_a_flood_whole() -> None:
    outputs = [stream("x" * 50_000), error("Cell In[1], line 1\n----> 1 f()\n", "KeyError: 'b'")]
    said = see(outputs, images_left=0).text
    assert len(said) <= 10_000
    assert said.endswith("Cell In[1], line 1\n----> 1 f()\nKeyError: 'b'")


@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=3_000).map(stream),
            st.text(max_size=500).map(lambda t: display(text__plain=t)),
            st.text(max_size=5_000).map(lambda t: error(t, evalue=t)),
        ),
        max_size=6,
    ),
    st.integers(200, 2_000),
)
def test_never_over_budget(outputs: list[Output], budget: int) -> None:
    assert len(see(outputs, images_left=0, budget=budget).text) <= budget


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, 4, "[characters 0 to 4 of 10]\n0123"),
        (8, 4, "[characters 8 to 10 of 10]\n89"),
        (-3, 9, "[characters 7 to 10 of 10]\n789"),
        (10, 4, "[nothing at 10: the output has 10 characters]"),
        (2, 0, "[characters 2 to 3 of 10]\n2"),
    ],
)
def test_excerpt(start: int, length: int, expected: str) -> None:
    assert excerpt("0123456789", start, length) == expected


def test_excerpt_is_bounded() -> None:
    assert len(excerpt("x" * 99_999, 0, 99_999)) < 10_100


# --- tracebacks ----------------------------------------------------------------------

SITE = "/home/me/.venv/lib/python3.12/site-packages"
RED, GREEN, OFF = f"{ESC}[31m", f"{ESC}[32m", f"{ESC}[39m"

COLOURED = error(
    f"{RED}{'-' * 75}{OFF}",
    f"{RED}KeyError{OFF}                                  Traceback (most recent call last)",
    f"Cell {GREEN}In[3]{OFF}{GREEN}, line 2{OFF}\n"
    f"      1 import pandas\n{GREEN}----> 2{OFF} f(df)\n",
    f"Cell {GREEN}In[1]{OFF}{GREEN}, line 4{OFF}, in f(x)\n"
    "      3 def f(x):\n----> 4     return x['b']\n",
    f"File {GREEN}{SITE}/pandas/core/frame.py:4330{OFF}, in DataFrame.__getitem__(self, key)\n"
    "   4328 a\n-> 4330 b\n",
    "File pandas/_libs/index.pyx:172, in pandas._libs.index.get_loc()\n--> 172 'no source'\n",
    f"File {SITE}/numpy/core.py:1, in x()\n----> 1 y\n",
    f"File {SITE}/pandas/core/frame.py:13788, in DataFrame.groupby(self)\n"
    "  13787 a\n> 13788 b(\n  13789     c)\n",
    f"File {SITE}/pandas/core/frame.py:100000, in DataFrame.last(self)\n 99999 a\n100000 b\n",
    f"{RED}KeyError{OFF}: 'b'",
)


def test_library_frames_fold_and_the_persons_stay() -> None:
    assert see([COLOURED], images_left=0).text == (
        "KeyError                                  Traceback (most recent call last)\n"
        "Cell In[3], line 2\n      1 import pandas\n----> 2 f(df)\n"
        "Cell In[1], line 4, in f(x)\n      3 def f(x):\n----> 4     return x['b']\n"
        "… 5 frames in pandas, numpy …\n"
        "KeyError: 'b'"
    )
    assert "-> 4330 b" in full_text([COLOURED])


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[str], list[Output]]]:
    """Runs code in a real kernel; its outputs."""
    manager, client = start_new_kernel()

    def run(source: str) -> list[Output]:
        outputs: list[Output] = []

        def keep(message: dict[str, Any]) -> None:
            if message["msg_type"] in ("stream", "error", "display_data", "execute_result"):
                outputs.append({"output_type": message["msg_type"], **message["content"]})

        client.execute_interactive(source, output_hook=keep, timeout=60)
        return outputs

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("mode", ["Context", "Plain"])
def test_tracebacks_of_the_real_thing(run: Callable[[str], list[Output]], mode: str) -> None:
    run(f"%xmode {mode}\nimport json")
    outputs = run("def parse(text):\n    return json.loads(text)\n\nparse('{')")
    said = see(outputs, images_left=0).text
    assert re.search(r"Cell In\[\d+\], line 4\b", said)
    assert "parse('{')" in said and "return json.loads(text)" in said
    assert "… 3 frames in json …\nJSONDecodeError: Expecting property name" in said


def test_a_progress_bar_of_the_real_thing(run: Callable[[str], list[Output]]) -> None:
    outputs = run("for n in range(3):\n    print(f'\\r{n} of 3', end='', flush=True)")
    assert see(outputs, images_left=0).text == "2 of 3"


@pytest.mark.parametrize(
    ("place", "package"),
    [
        (f'File "{SITE}/pandas/x.py", line 3, in f', "pandas"),
        (f"File {SITE}/six.py:3, in f()", "six"),
        ("File ~/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py:3, in f()", "json"),
        ("File /usr/lib/python3/dist-packages/numpy/x.py:3, in f()", "numpy"),
        (r"File C:\Python312\Lib\site-packages\pandas\x.py:3, in f()", "pandas"),
        (r"File C:\Python312\Lib\json\x.py:3, in f()", "json"),
        ('File "<frozen importlib._bootstrap>", line 3, in f', "importlib"),
        ("File sklearn/_tree.pyx:3, in sklearn._tree.f()", "sklearn"),
        ("File ~/work/helpers.py:3, in f()", None),
        ("File ~/work/lib/helpers.py:3, in f()", None),
        ("Cell In[3], line 1, in f()", None),
        ("File /tmp/ipykernel_1/234.py:3, in f()", None),
    ],
)
def test_whose_frame(place: str, package: str | None) -> None:
    said = see([error(f"{place}\n----> 3 code()\n", "KeyError: 'b'")], images_left=0).text
    if package is None:
        assert said == f"{place}\n----> 3 code()\nKeyError: 'b'"
    else:
        assert said == f"… 1 frame in {package} …\nKeyError: 'b'"


def test_one_string_of_plain_python() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/run.py", line 2, in <module>\n    f()\n'
        f'  File "{SITE}/click/core.py", line 9, in f\n    g()\n'
        f'  File "{SITE}/click/core.py", line 10, in g\n    h()\n'
        "click.exceptions.UsageError: no such option\n"
    )
    said = see([error(text, ename="UsageError", evalue="no such option")], images_left=0).text
    assert said == (
        "Traceback (most recent call last):\n"
        '  File "/home/me/run.py", line 2, in <module>\n    f()\n'
        "… 2 frames in click …\n"
        "click.exceptions.UsageError: no such option"
    )


def test_endless_recursion_is_short() -> None:
    frame = "Cell In[5], line 2, in r(n)\n      1 def r(n):\n----> 2     return r(n+1)\n"
    last = "RecursionError: maximum recursion depth exceeded"
    said = see([error(*[frame] * 975, last, ename="RecursionError")], images_left=0).text
    assert len(said) <= 4_000 and said.startswith(frame) and said.endswith(last)


def test_a_long_traceback_is_cut_but_not_its_end() -> None:
    frames = [f"Cell In[{n}], line 1, in f{n}()\n----> 1 {'x' * 90}\n" for n in range(100)]
    said = see([error(*frames, "ValueError: the end", ename="ValueError")], images_left=0).text
    assert 3_000 < len(said) <= 4_000
    assert said.endswith("\nValueError: the end")
    assert "characters left out" in said


def test_a_long_message_keeps_its_head() -> None:
    message = "ValidationError: " + "field wrong\n" * 5_000
    said = see(
        [error("Cell In[1], line 1\n----> 1 f()\n", message, ename="ValidationError")],
        images_left=0,
    ).text
    assert len(said) <= 4_000
    assert "----> 1 f()" in said and "\nValidationError: field wrong\n" in said


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (error(), "KeyError: 'b'"),
        (error(ename="Stop", evalue=""), "Stop"),
        (error("something else"), "something else\nKeyError: 'b'"),
        ({"output_type": "error", "ename": "bash", "evalue": "1"}, "bash: 1"),
    ],
)
def test_a_bare_error(output: Output, expected: str) -> None:
    assert see([output], images_left=0).text == expected


# --- images --------------------------------------------------------------------------


def test_images_go_along_three_a_result() -> None:
    outputs = [display(image__png=PNG) for _ in range(5)]
    seen = see(outputs, images_left=19)
    assert [image.source.media_type for image in seen.images] == ["image/png"] * 3
    assert seen.images[0].source.data == PNG
    note = "[image not shown: a result has at most 3; read_output can fetch it]"
    assert seen.text.split("\n") == ["[image: image/png]"] * 3 + [note] * 2


def test_images_left_in_the_result() -> None:
    seen = see([display(image__png=PNG), display(image__jpeg=JPEG)], images_left=1)
    assert len(seen.images) == 1 and "a result has at most 3" in seen.text


@pytest.mark.parametrize(
    "html",
    [
        "<img src='data:image/png;base64,{}'>",
        'frames[0] = "data:image/png;base64,{}"\nframes[1] = "data:image/png;base64,{}"',
    ],
)
def test_a_picture_within_html_goes_along(html: str) -> None:
    lines = "\\\n".join(PNG[start : start + 60] for start in range(0, len(PNG), 60))
    (shown,) = see([display(text__html=html.replace("{}", lines))], images_left=3).images
    assert shown.source.data == PNG


def test_text_alone() -> None:
    assert see([display(image__png=PNG)], images_left=None) == Seen("[image: image/png]")


def test_read_brings_the_images_of_the_excerpt() -> None:
    outputs = [*[display(image__png=PNG) for _ in range(3)], display(image__jpeg=JPEG)]
    start = full_text(outputs).rindex("[image:")
    seen = read(outputs, start)
    assert [image.source.media_type for image in seen.images] == ["image/jpeg"]
    assert seen.text.endswith("[image: image/jpeg]")
    assert len(read(outputs, 0).images) == 3
    assert "[image not shown: a result" in read(outputs, 0).text
    assert read([stream("text")], 0) == Seen("[characters 0 to 4 of 4]\ntext")


def test_base64_with_line_breaks_is_sent_without() -> None:
    wrapped = "\n".join(PNG[n : n + 20] for n in range(0, len(PNG), 20))
    assert see([display(image__png=wrapped)], images_left=1).images[0].source.data == PNG


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("size", [(1, 1), (1_568, 2), (3, 700)])
def test_size_is_read(kind: str, size: tuple[int, int]) -> None:
    data = picture(*size, kind=kind)
    assert images.size(data, images.media_type(data)) == size


def test_size_of_a_progressive_jpeg() -> None:
    buffer = io.BytesIO()
    Pillow.new("RGB", (30, 20)).save(buffer, "JPEG", progressive=True, comment=b"x" * 500)
    assert images.size(buffer.getvalue(), images.JPEG) == (30, 20)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_what_is_not_whole_is_never_sent(kind: str) -> None:
    data, media = picture(kind=kind), f"image/{kind.lower()}"
    for length in range(len(data)):
        assert images.size(data[:length], media) is None, length


def test_a_flipped_bit_in_a_png_is_found() -> None:
    data = bytearray(picture(noise=True, width=50, height=50))
    data[len(data) // 2] ^= 1
    assert see([display(image__png=encoded(bytes(data)))], images_left=1).images == ()


@pytest.mark.parametrize(
    "data", ["not base64!", encoded(b"GIF89a..."), "", encoded(b"\x89PNG\r\n\x1a\n")]
)
def test_damaged_images_are_a_note(data: str) -> None:
    seen = see([display(image__png=data, text__plain="x")], images_left=1)
    assert seen.images == ()


def test_the_media_type_is_what_the_data_is() -> None:
    seen = see([display(image__png=JPEG)], images_left=1)
    assert seen.images[0].source.media_type == "image/jpeg"


WIDE = picture(8_001, 2)
HEAVY = picture(1_500, 1_500, noise=True)


@pytest.mark.parametrize("data", [WIDE, HEAVY])
def test_too_large(data: bytes) -> None:
    seen = see([display(image__png=encoded(data))], images_left=1)
    assert seen.images == ()
    assert "are too large]" in seen.text


@pytest.mark.parametrize("size", [(1_610, 967), (3_000, 900), (8_000, 2)])
def test_a_wide_plot_is_a_picture(size: tuple[int, int]) -> None:
    """As of ``figsize=(20, 12)``; the API scales it down."""
    seen = see([display(image__png=encoded(picture(*size)))], images_left=1)
    assert len(seen.images) == 1 and "too large" not in seen.text


def test_the_html_of_a_thousand_outputs_is_read_within_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def stripped(text: str, limit: int = LIMIT) -> str:
        read.append(min(len(text), limit))
        return "text"

    monkeypatch.setattr(outputs, "strip_html", stripped)
    see(1_000 * [display(text__html="<p>" * 10_000)], images_left=0)
    assert len(read) == 1_000 and sum(read) < 5_000_000


# --- the whole result ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"status": "rejected"}, "status=rejected"),
        (
            {
                "status": "ok",
                "cell_id": "a1",
                "execution_count": 3,
                "elapsed": 0.449,
                "body": "42",
                "notes": ("edited by the person",),
            },
            "status=ok cell_id=a1 execution_count=3 elapsed=0.4s\nedited by the person\n42",
        ),
        ({"status": "error", "elapsed": 0.0}, "status=error elapsed=0.0s"),
    ],
)
def test_result_text(facts: dict[str, Any], expected: str) -> None:
    assert result_text(**facts) == expected


@pytest.mark.parametrize(
    ("value", "line"), [("not there", "KeyError: not there"), ("", "KeyError"), (None, "KeyError")]
)
def test_an_error_is_one_line_for_a_card(value: object, line: str) -> None:
    error = {"output_type": "error", "ename": "KeyError", "evalue": value, "traceback": []}
    assert outputs.summary([error]) == line
