"""The admin's settings, for the server extension and the command line.

The server imports this at its start: keep the imports few.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_data_dir
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode, default
from traitlets.config import Configurable

from ..run.approval.modes import BY_RANK, HIGHEST

if TYPE_CHECKING:
    from ..journal.sqlite import Retention
    from ..models.offered import AllowedModels, Models
    from ..run.turn.limits import Limits
    from ..view.redaction.secrets import Secrets


class CodeInterpSettings(Configurable):
    """Settings ``c.CodeInterp…``. Subclasses must have that name."""

    model = Unicode(
        help="The default model: an id of the default provider, or provider/model.",
    ).tag(config=True)
    base_url = Unicode(
        None,
        allow_none=True,
        help="Address of a server that speaks the Messages API, without /v1. "
        "Default: ANTHROPIC_BASE_URL, else Anthropic.",
    ).tag(config=True)
    allowed_providers = List(
        Unicode(),
        None,
        allow_none=True,
        help="Allowed providers, by name as in their model ids (anthropic, ollama, …). None: all.",
    ).tag(config=True)
    allowed_models = List(
        Unicode(),
        None,
        allow_none=True,
        help="Allowed models for windows, clients and kernels, as provider/model with * as "
        "wildcard. None: all models of the allowed providers.",
    ).tag(config=True)
    allowed_packages = List(
        Unicode(),
        None,
        allow_none=True,
        help="Installed Python packages that may add tools, hooks and providers, by name. Their "
        "code runs in the server, in every mode. None: all; []: no package.",
    ).tag(config=True)
    keys_from_environment = Bool(
        False,
        help="Take keys and addresses only from the server's environment and configuration. "
        "People cannot enter any, and earlier entries are ignored.",
    ).tag(config=True)
    local_addresses = Dict(
        Unicode(),
        help="Addresses of model servers on this machine, by provider, if not at their usual "
        "ports: {'ollama': 'http://127.0.0.1:11435'}.",
    ).tag(config=True)
    highest_mode = Enum(
        BY_RANK,
        HIGHEST,
        help="The most permissive mode that a person may choose: plan (nothing runs), review "
        "(asks before each run) or auto (runs without asking).",
    ).tag(config=True)
    auto_needs_sandbox = Bool(
        False,
        help="Let code run without asking (Auto, Run all in this turn) in sandboxed kernels alone. "
        "In other kernels each run asks.",
    ).tag(config=True)
    read_rule_files = Bool(
        True,
        help="Send AGENTS.md and .codeinterp/rules.md, from a notebook's folder and the "
        "folders above it, to the model as the person's instructions. Also offer the skills in "
        ".codeinterp/skills there.",
    ).tag(config=True)
    max_steps = Integer(
        100,
        min=1,
        help="Maximum number of model calls in a turn. The last one has no tools: it is for the "
        "answer so far.",
    ).tag(config=True)
    max_tokens = Integer(16_000, min=256, help=("Maximum number of tokens in an answer.")).tag(
        config=True
    )
    max_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="Maximum cost of a turn in US dollars. Needs known prices (see prices).",
    ).tag(config=True)
    prices = Dict(
        List(Float(min=0), minlen=4, maxlen=4),
        help="Prices by model id, in US dollars per million tokens: (input, output, cache "
        "write, cache read).",
    ).tag(config=True)
    day_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="Maximum cost in US dollars of all model calls in a day (UTC), from windows and "
        "clients. Needs known prices (see prices).",
    ).tag(config=True)
    kernels_keep_keys = Bool(
        True,
        help="Pass model keys in the server's environment, such as ANTHROPIC_API_KEY, to "
        "kernels for people's own code.",
    ).tag(config=True)
    inline_completion = Bool(
        True,
        help="Allow people to turn on completions while typing, which send small requests to a "
        "model. Off until a person turns them on.",
    ).tag(config=True)
    untrusted_clicks = Bool(
        True,
        help="Allow people to let clicks of browser extensions (Vimium and the like) press buttons "
        "of the Code Interpreter. A page cannot tell them from a script's. Off until a person "
        "turns it on.",
    ).tag(config=True)
    kernel_env_remove = List(
        Unicode(),
        help="Environment variables of the server that kernels never get, by name: "
        "['JUPYTERHUB_API_TOKEN', 'DATABASE_URL'].",
    ).tag(config=True)
    cell_timeout = Float(
        600.0,
        allow_none=True,
        min=0,
        help=("Time limit of a cell in Auto mode, in seconds. None: no limit."),
    ).tag(config=True)
    turn_timeout = Float(
        3600.0, allow_none=True, min=0, help="Time limit of a turn in Auto mode, in seconds."
    ).tag(config=True)
    window_grace = Float(
        30.0,
        min=0,
        help="Seconds that a turn waits for a departed window. Then it continues in the "
        "notebook's file, unless the file lacks a person's edits.",
    ).tag(config=True)
    allow_token_windows = Bool(
        False,
        help="Allow clients with the server's token, but no login cookies, to decide and to "
        "change modes and keys. Code in a kernel can read that token. Needed only if "
        "another host serves the page.",
    ).tag(config=True)
    mcp_servers = Dict(
        help="MCP servers whose tools the agent may use, in the shape of mcpServers: "
        "{'time': {'command': 'uvx', 'args': ['mcp-server-time']}}. They start without a person's "
        "approval; each call still asks.",
    ).tag(config=True)
    mcp_own_servers = Bool(
        True,
        help="Let people name MCP servers of their own, in codeinterp/mcp-servers.json of the data "
        "directory. A person approves each before it starts.",
    ).tag(config=True)
    data_dir = Unicode(
        help="Folder of conversations and pasted keys. Default: codeinterp in Jupyter's data "
        "directory."
    ).tag(config=True)
    keep_conversations_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days to keep a conversation after its last change. None: forever.",
    ).tag(config=True)
    keep_outputs_size = Integer(
        1_000_000_000,
        allow_none=True,
        min=0,
        help="Maximum size in bytes of the journal's file. The oldest outputs are deleted first.",
    ).tag(config=True)
    demo_pace = Float(
        None, allow_none=True, help="Words per second of the offline demo. 0: all at once."
    ).tag(config=True)

    @default("model")
    def _default_model(self) -> str:
        from ..models.anthropic.services import ANTHROPIC

        return ANTHROPIC.default_model

    @property
    def folder(self) -> Path:
        """The folder of conversations and saved keys."""
        return Path(self.data_dir or Path(jupyter_data_dir()) / "codeinterp")

    @property
    def models_allowed(self) -> AllowedModels:
        from ..models.offered import AllowedModels

        return AllowedModels(
            None if self.allowed_providers is None else tuple(self.allowed_providers),
            None if self.allowed_models is None else tuple(self.allowed_models),
            self.keys_from_environment,
            self.day_cost,
        )

    def make_models(self, secrets: Secrets) -> Models:
        """The models of all providers. ``secrets`` learns their keys."""
        from ..models.offered import Models

        return Models(
            self.folder,
            secrets,
            default_model=self.model,
            base_url=self.base_url,
            demo_pace=self.demo_pace,
            limits=self.models_allowed,
            local_addresses=self.local_addresses,
            allowed_packages=self.allowed_packages,
            max_tokens=self.max_tokens,
            prices=self.prices,
        )

    @property
    def limits(self) -> Limits:
        from ..run.turn.limits import Limits

        return Limits(
            steps=self.max_steps,
            cell_timeout=self.cell_timeout,
            turn_timeout=self.turn_timeout,
            cost=self.max_cost,
        )

    @property
    def retention(self) -> Retention:
        from ..journal.sqlite import Retention

        return Retention(self.keep_conversations_days, self.keep_outputs_size)
