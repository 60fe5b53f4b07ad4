"""Configuration of the JupyterLab that the browser tests drive.

Never for real use: there is no token, no XSRF check, and pages get at the application object.
"""

import functools
import json
import os
import sys
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server
from nbconvert.exporters import base as exporters

# Last: where the package is installed from a wheel, that is the one under test.
sys.path.append(str(Path(__file__).parents[1]))
from tests import kernel_ports
from tests.local_addresses import NOBODY, elsewhere

kernel_ports.keep_apart()

# Each page asks for all formats of export. Each time the server would look through every package
# that is installed and make an exporter of each kind: more than half of its work for a page.
exporters.get_export_names = functools.cache(exporters.get_export_names)
exporters.get_exporter = functools.cache(exporters.get_exporter)

c = get_config()  # noqa: F821 - traitlets puts it there
configure_jupyter_server(c)

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ["CODEINTERP_TEST_PORT"])
c.ServerApp.allow_root = True
c.Application.log_level = "ERROR"
c.LabApp.workspaces_dir = os.environ["JUPYTERLAB_WORKSPACES_DIR"]
c.LabApp.news_url = None
c.JupyterNotebookApp.expose_app_in_browser = True
# Of jupyter-collaboration, which else leaves it beside this file.
c.SQLiteYStore.db_path = str(Path(os.environ["JUPYTER_DATA_DIR"], "ystore.db"))
# A turn whose window is gone goes on in the file soon, but not during a reload.
c.CodeInterp.window_grace = 6

# Prices of one of the fake model's models; those of the others are not known.
c.CodeInterp.prices = {"claude-opus-5-5": (5.0, 25.0, 6.25, 0.5)}

# No model server that really runs here is found; a test may say where one stands in for Ollama.
c.CodeInterp.local_addresses = elsewhere(ollama=os.environ.get("CODEINTERP_TEST_OLLAMA", NOBODY))

OVERLAID = "Python 3 (sandboxed, with an overlay)"

if os.environ.get("CODEINTERP_TEST_SANDBOX") == "1":
    # "python3" is a sandboxed kernel. JUPYTER_PATH comes before the environment's own kernelspecs.
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"kernel_provisioner": {"provisioner_name": "codeinterp-sandbox"}},
    }
    sandboxed = Path(os.environ["JUPYTER_DATA_DIR"]) / "sandboxed"
    python3 = sandboxed / "kernels" / "python3"
    python3.mkdir(parents=True, exist_ok=True)
    (python3 / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    # "overlaid" has an overlay, too.
    provisioner = {"provisioner_name": "codeinterp-sandbox", "config": {"overlay": True}}
    spec |= {"display_name": OVERLAID, "metadata": {"kernel_provisioner": provisioner}}
    overlaid = sandboxed / "kernels" / "overlaid"
    overlaid.mkdir(exist_ok=True)
    (overlaid / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(sandboxed)

# A package of others with a tool, and with the extension that draws its results.
if extension := os.environ.get("CODEINTERP_TEST_EXTENSION"):
    sys.path.append(str(Path(extension) / "site-packages"))
    # Galata's own is one of them.
    galata = c.LabServerApp.extra_labextensions_path
    c.LabServerApp.extra_labextensions_path = [
        *([galata] if isinstance(galata, str) else galata),
        str(Path(extension) / "labextensions"),
    ]
