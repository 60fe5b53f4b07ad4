"""HTML that only looks like a table is not taken for one."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.notebook.passive import LIMIT, is_passive, is_plain_html, passive_data

PANDAS = """<div>
<style scoped>
    .dataframe tbody tr th:only-of-type {
        vertical-align: middle;
    }

    .dataframe thead th {
        text-align: right;
    }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>a</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>x&lt;y</td>
    </tr>
  </tbody>
</table>
<p>1 rows x 1 columns</p>
</div>"""
STYLER = """<style type="text/css">
#T_ca636_row0_col0, #T_ca636_row1_col0 {
  background-color: #fff7fb;
  color: #000000;
}
</style>
<table id="T_ca636">
  <thead>
    <tr>
      <th class="blank level0" >&nbsp;</th>
      <th id="T_ca636_level0_col0" class="col_heading level0 col0" >a</th>
    </tr>
  </thead>
</table>"""
POLARS = """<div><style>
.dataframe > thead > tr,
.dataframe > tbody > tr {
  text-align: right;
  white-space: pre-wrap;
}
</style>
<small>shape: (1, 1)</small>
<table border="1" class="dataframe"><thead><tr><th>a</th></tr></thead>
</table></div>"""


@pytest.mark.parametrize("html", ["", "1 &lt; 2", "<b>bold</b><br/>", PANDAS, STYLER, POLARS])
def test_a_table_is_plain(html: str) -> None:
    assert is_plain_html(html)


@pytest.mark.parametrize(
    "html",
    [
        "<script>1</script>",
        "<SCRIPT>1</SCRIPT>",
        "<td onclick='1'>",
        '<td onclick="1">',
        '<td class="x" onmouseover=alert(1)>',
        '<td class="x"onmouseover="1">',
        '<td class="x">" onmouseover="1"<img src=x>',
        '<td style="background: url(http://host/)">',
        '<td style="text-align: right; position: fixed">',
        '<td id="main">',
        '<img src="http://host/">',
        '<a href="javascript:1">x</a>',
        "<svg><style><img src=x onerror=1>",
        "<math>",
        "<table background='http://host/'>",
        "<!-- x -->",
        "<!DOCTYPE html>",
        "<![ x",
        "<",
        "<td",
        "<td\x00>",
        "<style>@import 'http://host/';</style>",
        "<style>.dataframe { background: url(http://host/); }</style>",
        "<style>.dataframe { background-color: url(http://host/); }</style>",
        "<style>.dataframe, body { color: red; }</style>",
        "<style>.dataframe ~ * { color: red; } .jp-Cell { color: red; }</style>",
        "<style>.dataframe { color: red; position: fixed; }</style>",
        "<style>.dataframe { color: red; </style>",
        "<style>.dataframe { color: red; }",
        "<style>body { color: red; }</style>",
        "<style>/* } */ body { color: red }</style>",
        "<style media=all>.dataframe { color: red; }</style>",
        '<iframe srcdoc="x">',
        "<b>" + "x" * LIMIT + "</b>",
    ],
)
def test_html_that_does_more_is_not(html: str) -> None:
    assert passive_data({"text/plain": "x", "text/html": html}) == {"text/plain": "x"} or (
        not is_plain_html(html)
    )
    assert not is_passive([shown(**{"text/html": html})])


@pytest.mark.parametrize(
    "kind",
    [
        "application/javascript",
        "application/vnd.jupyter.widget-view+json",
        "application/vnd.plotly.v1+json",
        "application/vnd.vegalite.v5+json",
        "application/x-of-another-extension",
        "image/svg+xml",
        "text/markdown",
        "TEXT/HTML",
    ],
)
def test_a_type_that_may_run_something_is_active(kind: str) -> None:
    assert not is_passive([shown(**{"text/plain": "x", kind: "x"})])


@pytest.mark.parametrize("data", [None, "text/html", ["text/html"], {"text/html": ["<b>"]}])
def test_data_of_an_unknown_shape_are_active(data: Any) -> None:
    assert not is_passive([{"output_type": "display_data", "data": data, "metadata": {}}])


def test_a_picture_and_a_stream_are_passive() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "<script>"}
    assert is_passive([stream, shown(**{"text/plain": "<Figure>", "image/png": "iVBO"})])


def shown(**data: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}
