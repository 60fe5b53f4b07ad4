"""A JupyterHub on one machine, to try this extension with several people.

docs/hub.md has the commands that install and start it.

WARNING: whoever knows the one password can log in as anyone. It listens on this machine alone.
For real people, replace the authenticator and the spawner.

Started as root, each person's server runs as an account of its own, which needs no entry in
/etc/passwd. Started as anybody else, all servers run as that account: nothing but their good will
then keeps people from each other's files and keys.
"""

import json
import os
import secrets
import sys
from pathlib import Path

from jupyterhub.spawner import SimpleLocalProcessSpawner
from traitlets import Integer

c = get_config()  # noqa: F821

# --- What you may want to change ---------------------------------------------------------------

FOLDER = Path(os.environ.get("HUB_FOLDER", "hub")).absolute()
"""The hub's own files, and the homes."""
PEOPLE = os.environ.get("HUB_PEOPLE", "alice,bob").split(",")
PASSWORD = os.environ.get("HUB_PASSWORD") or secrets.token_urlsafe(12)
PORT = int(os.environ.get("HUB_PORT", "8000"))
MODELS = os.environ.get("HUB_MODELS", "https://models.example.org")
"""Your gateway, such as LiteLLM. It has the provider's key, and a budget for each person."""
KEYS = Path(os.environ.get("HUB_KEYS", FOLDER / "keys.json"))
"""The gateway's key for each person: {"alice": "sk-…", "bob": "sk-…"}. Nobody else may read it."""
IDLE = int(os.environ.get("HUB_IDLE", "3600"))
"""Seconds after which an unused server ends. A working turn counts as use. At least twice
REPORTS."""
REPORTS = int(os.environ.get("HUB_REPORTS", "300"))
"""Seconds between two reports of activity to the hub."""

PRICES = {"claude-sonnet-5-5": (3.0, 15.0, 3.75, 0.3)}
"""US dollars a million tokens, as your gateway counts them: input, output, cache write and read.
Behind an address of your own no price is known, and a limit in dollars needs one."""

TOKEN_WINDOWS = os.environ.get("HUB_TOKEN_WINDOWS") == "1"
"""Whether tokens of the hub may begin turns and decide. Then code that gets hold of such a token
can do it, too."""

LIMITS = {
    # Keys and addresses are those below; nobody can enter others.
    "keys_from_environment": True,
    # Kernels get neither the gateway's key nor the hub's token. `%%ai` works without.
    "kernels_keep_keys": False,
    "kernel_env_remove": ["JUPYTERHUB_API_TOKEN"],
    "allowed_providers": ["anthropic"],
    "allowed_models": [f"anthropic/{model}" for model in PRICES],
    "prices": PRICES,
    "allow_token_windows": TOKEN_WINDOWS,
    # Code runs without asking in sandboxed kernels alone.
    "auto_needs_sandbox": True,
    # US dollars a turn and a day. The gateway's budget is the wall, these are the rail.
    "max_cost": 2.0,
    "day_cost": 10.0,
    # Model calls and tokens.
    "max_steps": 25,
    "max_tokens": 16_000,
}


def key_of(spawner):
    """The key that the gateway has for this person. LiteLLM makes one with a budget by

    curl $GATEWAY/key/generate -H "Authorization: Bearer $MASTER_KEY" \\
        -d '{"user_id": "alice", "max_budget": 10, "budget_duration": "1d"}'
    """
    return json.loads(KEYS.read_text())[spawner.user.name] if KEYS.exists() else ""


# --- The hub ------------------------------------------------------------------------------------

os.umask(0o077)  # What the hub and the servers write is their own.
HOMES = FOLDER / "homes"
SETTINGS = FOLDER / "settings"
for folder in (FOLDER, HOMES, SETTINGS):
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)  # Everybody goes through to their own, and sees no names.
file = SETTINGS / "jupyter_server_config.json"
# A login shell would forget this environment's `jupyter`.
terminals = {"terminado_settings": {"shell_command": ["bash"]}}
file.write_text(json.dumps({"CodeInterp": LIMITS, "ServerApp": terminals}, indent=2))
file.chmod(0o644)
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.hub_port = int(os.environ.get("HUB_INNER_PORT", "8081"))
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{os.environ.get('HUB_PROXY_PORT', '8001')}"
c.ConfigurableHTTPProxy.pid_file = str(FOLDER / "proxy.pid")
c.JupyterHub.db_url = f"sqlite:///{FOLDER}/hub.sqlite"
c.JupyterHub.cookie_secret_file = str(FOLDER / "cookie_secret")
c.JupyterHub.last_activity_interval = REPORTS
# By path, all people's pages share one origin: a script in one page can use what the browser has of
# another person who is logged in there. With a wildcard certificate, give each a name of their own:
# c.JupyterHub.subdomain_host = "https://hub.example.org"

# For trying only. Take another one, such as oauthenticator's, for real people.
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = PASSWORD
c.Authenticator.allowed_users = set(PEOPLE)
if "HUB_PASSWORD" not in os.environ:
    print(f"For trying only: http://127.0.0.1:{PORT} as {' or '.join(PEOPLE)}, {PASSWORD}")

# --- A server for each person --------------------------------------------------------------------


NOTEBOOKS = "notebooks"
"""In each home. A sandboxed kernel may write in its notebook's folder, which cannot be a home."""


class OwnAccountSpawner(SimpleLocalProcessSpawner):
    """Runs each server as an account of its own, if the hub runs as root."""

    first_account = Integer(20_000, config=True, help="The numbers from here on must be free.")

    def make_preexec_fn(self, name):
        home, separate = Path(self.home_dir), os.getuid() == 0
        account = self.first_account + self.user.id

        def become():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if separate:
                os.chown(home, account, account)
                os.setgroups([])
                os.setgid(account)
                os.setuid(account)
            home.chmod(0o700)
            (home / NOTEBOOKS).mkdir(exist_ok=True)
            os.chdir(home)

        return become


c.JupyterHub.spawner_class = OwnAccountSpawner
c.OwnAccountSpawner.home_dir_template = str(HOMES / "{username}")
c.Spawner.notebook_dir = str(HOMES / "{username}" / NOTEBOOKS)

c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
# Servers and the command line read the limits from SETTINGS. The files of a person's home are
# not read by their server at all.
c.Spawner.disable_user_config = True
c.Spawner.environment = {
    "JUPYTER_CONFIG_PATH": str(SETTINGS),
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "ANTHROPIC_BASE_URL": MODELS,
    "ANTHROPIC_API_KEY": key_of,
    "JUPYTERHUB_ACTIVITY_INTERVAL": str(REPORTS),
}
c.Spawner.default_url = "/lab"

# `jupyter codeinterp sandbox install` makes this kernelspec. New notebooks then begin with it.
SANDBOXED = "python3-sandboxed"
if (Path(sys.prefix) / "share/jupyter/kernels" / SANDBOXED).exists():
    c.Spawner.args = [f"--MultiKernelManager.default_kernel_name={SANDBOXED}"]

# --- Unused servers end ---------------------------------------------------------------------------

c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE}"],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
