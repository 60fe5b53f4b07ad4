"""The Jupyter server, with a conversation, a stored key and a waiting draft."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, plain

STARTS = """
import json, urllib.request
def ask(route, body, method):
    headers = {"Authorization": f"token {TOKEN}"}
    made = urllib.request.Request(f"{URL}/{route}", body, headers, method=method)
    return urllib.request.urlopen(made, timeout=2)
made = json.load(ask("api/kernels", b"{}", "POST"))["id"]
ask(f"api/kernels/{made}", None, "DELETE")
"""
DECIDES = """
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect
import json
async def ask(method, route, headers):
    body = "{}" if method == "POST" else None
    made = HTTPRequest(f"{URL}/{route}", method, headers, body, follow_redirects=False)
    return await AsyncHTTPClient().fetch(made, raise_error=False)
page = await ask("GET", f"?token={TOKEN}", {})
cookies = [line.split(";")[0] for line in page.headers.get_list("Set-Cookie")]
headers = {"Cookie": "; ".join([*cookies, "_xsrf=x"]), "X-XSRFToken": "x"}
given = json.loads((await ask("POST", "codeinterp/api/tickets", headers)).body)
address = f"{URL}/codeinterp/api/channel?ticket={given['ticket']}".replace("http", "ws", 1)
one = await websocket_connect(HTTPRequest(address, headers=headers))
await one.write_message(json.dumps({**DECISION, "id": 1}))
done = False
while not done:
    for line in (await one.read_message()).split("\\n"):
        frame = json.loads(line)
        if frame["type"] == "reply":
            assert frame.get("error") is None, frame
            done = True
one.close()
"""

SERVER = (
    *plain(
        {
            "read its token": (
                "from jupyter_core.paths import jupyter_runtime_dir\n"
                "found = glob.glob(f'{jupyter_runtime_dir()}/jpserver-*.json')\n"
                "assert TOKEN in open(found[0]).read()"
            ),
            "find its token in a variable": "assert TOKEN in os.environ.values()",
            "read its settings": "open(f'{CONFIG}/jupyter_server_config.json').read()",
            "read the key of the model": (
                "texts = [p.read_bytes() for p in pathlib.Path(DATA).rglob('*') if p.is_file()]\n"
                "assert any(KEY.encode() in text for text in texts)"
            ),
            "read another conversation in the journal": (
                "texts = [p.read_bytes() for p in pathlib.Path(DATA).rglob('*') if p.is_file()]\n"
                "assert any(SAID.encode() in text for text in texts)"
            ),
            "open the journal to write": (
                "found = glob.glob(f'{DATA}/codeinterp/*.db')\nopen(found[0], 'r+b').close()"
            ),
            "read the connection of another kernel": (
                "import json\n"
                "found = json.load(open(f'{RUNTIME}/kernel-{OTHER_KERNEL}.json'))\n"
                "assert found['key']"
            ),
            "connect to it": "socket.create_connection(('127.0.0.1', PORT), 2).close()",
            "start a plain kernel with its token": STARTS,
        }
    ),
    Attempt("change its settings", "append(f'{CONFIG}/x.py')", proof="config/x.py"),
    Attempt(
        "add a kernel to its menu",
        "os.makedirs(f'{DATA}/kernels/x', exist_ok=True); append(f'{DATA}/kernels/x/kernel.json')",
        proof="data/kernels/x/kernel.json",
    ),
    Attempt("log in with its token and run a draft that waits", DECIDES, proof="the draft"),
)
