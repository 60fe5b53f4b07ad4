"""Servers that speak the Messages API natively, a row each.

Addresses are without ``/v1``. Each comes from the documentation named above its row, as of
November 2026.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One server, at ``url``. A ``local`` one runs on the person's machine at its usual port,
    without a key. ``variable`` may hold the key of a remote one.

    The key goes into ``Authorization: Bearer``; ``x_api_key``: into ``X-Api-Key`` as well. A
    ``gateway`` forwards requests to models that may cost money. ``list_url`` and ``key_url`` as
    in ``Profile``; ``models`` are known ones if it has no list.
    """

    name: str
    label: str
    url: str
    local: bool = False
    x_api_key: bool = False
    variable: str = ""
    key_looks: str = ""
    key_page: str = ""
    list_url: str = ""
    key_url: str = ""
    models: tuple[str, ...] = ()
    gateway: bool = False


ROWS = (
    # docs.ollama.com/api/anthropic-compatibility (a key is "required but ignored")
    Row("ollama", "Ollama", "http://127.0.0.1:11434", local=True),
    # huggingface.co/blog/ggml-org/anthropic-messages-api-in-llamacpp; port 8080
    Row("llama-cpp", "llama.cpp", "http://127.0.0.1:8080", local=True, x_api_key=True),
    # docs.vllm.ai/en/stable/serving/integrations/claude_code; port 8000
    Row("vllm", "vLLM", "http://127.0.0.1:8000", local=True),
    # docs.sglang.io/docs/basic_usage/anthropic_api; port 30000
    Row("sglang", "SGLang", "http://127.0.0.1:30000", local=True),
    # lmstudio.ai/docs/developer/anthropic-compat: either header
    Row("lm-studio", "LM Studio", "http://127.0.0.1:1234", local=True, x_api_key=True),
    # ericlbuehler.github.io/mistral.rs/guides/serve/anthropic-messages-api: no key is looked at
    Row("mistral-rs", "mistral.rs", "http://127.0.0.1:1234", local=True),
    # docs.litellm.ai/docs/anthropic_completion (x-api-key); port 4000
    Row("litellm", "LiteLLM", "http://127.0.0.1:4000", local=True, x_api_key=True, gateway=True),
    # openrouter.ai/docs, guides: Claude Code (a bearer token), api-reference: GET /api/v1/key;
    # the list of models is open to all
    Row(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api",
        variable="OPENROUTER_API_KEY",
        key_looks="sk-or-v1-…",
        key_page="https://openrouter.ai/keys",
        key_url="/api/v1/key",
    ),
    # api-docs.deepseek.com/guides/anthropic_api (x-api-key), api-docs.deepseek.com/api/list-models
    Row(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/anthropic",
        x_api_key=True,
        variable="DEEPSEEK_API_KEY",
        key_looks="sk-…",
        key_page="https://platform.deepseek.com/api_keys",
        list_url="/models",
    ),
    # platform.kimi.ai/docs/api/overview: the host, both APIs, GET /v1/models
    Row(
        "moonshot",
        "Moonshot (Kimi)",
        "https://api.moonshot.ai/anthropic",
        variable="MOONSHOT_API_KEY",
        key_looks="sk-…",
        key_page="https://platform.kimi.ai/console/api-keys",
        list_url="/v1/models",
    ),
    # docs.z.ai/devpack/tool/claude (a bearer token); no list of models is documented
    Row(
        "zai",
        "Z.ai",
        "https://api.z.ai/api/anthropic",
        variable="ZAI_API_KEY",
        key_page="https://z.ai/manage-apikey/apikey-list",
        models=("glm-5.3", "glm-5.3-flash", "glm-4.5-air"),
    ),
)
