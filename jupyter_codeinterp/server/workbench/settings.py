"""What an admin sets, whichever front it is for: the server extension, the command line."""

from __future__ import annotations

from pathlib import Path

from jupyter_core.paths import jupyter_data_dir
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode
from traitlets.config import Configurable

from ...adapters.providers.anthropic.provider import DEFAULT_MODEL
from ...adapters.storage.sqlite import Retention
from ...core.approval.modes import BY_RANK, HIGHEST
from ...core.turn.limits import Limits
from ..models import Limits as Allowed


class CodeInterpSettings(Configurable):
    """Those that are set as ``c.CodeInterp…``: who takes part in them is called so."""

    model = Unicode(
        DEFAULT_MODEL,
        help="The model that answers by default: an id of the default provider, or provider/model.",
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
        help="Providers whose models may be used, by name, as in the ids of their models "
        "(anthropic, ollama, …). None: all.",
    ).tag(config=True)
    allowed_models = List(
        Unicode(),
        None,
        allow_none=True,
        help="Models that may be used, in windows, by clients and by kernels: provider/model, "
        "where * stands for anything. None: all of the allowed providers.",
    ).tag(config=True)
    keys_from_environment = Bool(
        False,
        help="Whether keys and addresses come from the server's environment and configuration "
        "alone: a person can enter none, and what was entered before is not used.",
    ).tag(config=True)
    find_local_servers = Bool(
        None,
        allow_none=True,
        help="Whether a person may have model servers looked for on this machine. None: where "
        "the server listens on this machine alone and is not JupyterHub's.",
    ).tag(config=True)
    local_addresses = Dict(
        Unicode(),
        help="Where model servers of this machine answer, by provider, if not at their usual "
        "ports: {'ollama': 'http://127.0.0.1:11435'}.",
    ).tag(config=True)
    highest_mode = Enum(
        BY_RANK,
        HIGHEST,
        help="The most that a person may allow: plan (nothing runs), review (each run is "
        "asked for) or auto (runs without asking).",
    ).tag(config=True)
    read_rule_files = Bool(
        True,
        help="Whether AGENTS.md and .codeinterp/rules.md, beside a notebook and above it, are "
        "told to the model as the person's wishes.",
    ).tag(config=True)
    max_steps = Integer(25, min=1, help="Model calls in one turn at most.").tag(config=True)
    max_tokens = Integer(16_000, min=256, help="Tokens of one answer at most.").tag(config=True)
    max_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="US dollars a turn may cost at most. Needs known prices (see prices).",
    ).tag(config=True)
    prices = Dict(
        help="Prices by model id, in US dollars a million tokens: (input, output, cache write, "
        "cache read)."
    ).tag(config=True)
    kernel_models = List(
        Unicode(),
        None,
        allow_none=True,
        help="Models that code in kernels (%%ai) may ask through this server. None: all.",
    ).tag(config=True)
    kernel_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="US dollars that the model calls of one kernel (%%ai) may cost through this "
        "server. Needs known prices (see prices).",
    ).tag(config=True)
    day_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="US dollars that all model calls of a day (UTC) may cost, whoever asks: windows, "
        "clients, kernels. Needs known prices (see prices).",
    ).tag(config=True)
    kernels_keep_keys = Bool(
        True,
        help="Whether kernels get the variables of the server's environment that hold keys of "
        "models, such as ANTHROPIC_API_KEY, for code of the person's own. %%ai does not need "
        "them.",
    ).tag(config=True)
    inline_completion = Bool(
        True,
        help="Whether a person may switch on completions while typing, each of which is a "
        "small request to a model. Nobody has them before that.",
    ).tag(config=True)
    kernel_env_remove = List(
        Unicode(),
        help="Names of variables of the server's environment that kernels do not get, whatever "
        "they hold: ['JUPYTERHUB_API_TOKEN', 'DATABASE_URL'].",
    ).tag(config=True)
    cell_timeout = Float(
        600.0, allow_none=True, min=0, help="Seconds a cell may run in Auto mode. None: no limit."
    ).tag(config=True)
    turn_timeout = Float(
        3600.0, allow_none=True, min=0, help="Seconds a turn may take in Auto mode."
    ).tag(config=True)
    window_grace = Float(
        30.0,
        min=0,
        help="Seconds that a turn waits for a window that is gone. Then it goes on in the "
        "notebook's file, if nothing that a person has written is missing there.",
    ).tag(config=True)
    leave_grace = Float(
        5.0,
        min=0,
        help="The same for a window that has said that it goes: a page that is loaded anew is "
        "back by then. Never longer than window_grace.",
    ).tag(config=True)
    allow_token_windows = Bool(
        False,
        help="Whether a client that has the server's token, but no cookies of a login, may "
        "decide and change modes and keys as a window does. Code in a kernel can read that "
        "token. Needed only where the page is served from another host than the server.",
    ).tag(config=True)
    wait_keeps_kernel = Float(
        3600.0,
        min=0,
        help="Seconds for which a turn that waits for a person keeps its kernel, and the "
        "server, from being shut down as idle. A turn that works always does.",
    ).tag(config=True)
    data_dir = Unicode(
        help="Where conversations and a pasted key are kept. Default: codeinterp in Jupyter's "
        "data directory."
    ).tag(config=True)
    keep_conversations_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days after its last change for which a conversation is kept. None: for ever.",
    ).tag(config=True)
    keep_outputs_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days for which conversations keep outputs that the model may read again. "
        "(Notebooks keep their own.) None: as long as the conversation.",
    ).tag(config=True)
    keep_outputs_size = Integer(
        1_000_000_000,
        allow_none=True,
        min=0,
        help="Bytes that the outputs of all conversations take at most; the oldest go first.",
    ).tag(config=True)
    demo_pace = Float(
        None, allow_none=True, help="Words a second of the offline demo; 0: at once."
    ).tag(config=True)

    @property
    def folder(self) -> Path:
        """Where conversations and a pasted key are kept."""
        return Path(self.data_dir or Path(jupyter_data_dir()) / "codeinterp")

    @property
    def models_allowed(self) -> Allowed:
        return Allowed(
            None if self.allowed_providers is None else tuple(self.allowed_providers),
            None if self.allowed_models is None else tuple(self.allowed_models),
            self.keys_from_environment,
            self.day_cost,
        )

    @property
    def limits(self) -> Limits:
        return Limits(
            steps=self.max_steps,
            cell_timeout=self.cell_timeout,
            turn_timeout=self.turn_timeout,
            cost=self.max_cost,
        )

    @property
    def retention(self) -> Retention:
        return Retention(
            self.keep_outputs_days, self.keep_conversations_days, self.keep_outputs_size
        )
