"""A code interpreter that lives in the notebook.

Imports nothing: the server and the kernel both load this package.
"""


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyter-codeinterp"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    from .server.app import CodeInterp

    return [{"module": "jupyter_codeinterp.server.app", "app": CodeInterp}]


def load_ipython_extension(shell: object) -> None:
    """Handle ``%load_ext jupyter_codeinterp``."""
    from .magic import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    from .magic import unload

    unload(shell)
