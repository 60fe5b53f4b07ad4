"""Files in the writable notebook's folder that other programs run."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, plain

FOLDER = (
    *(
        Attempt(name, f"append({path!r}, f'# {{MARK}}')", proof=f"notebooks/FOLDER/{path}")
        for name, path in {
            "change a hook of Git": ".git/hooks/pre-commit",
            "change the settings of Git": ".git/config",
            "change a hook of a repository further down": "deep/er/.git/hooks/pre-commit",
            "change a checkpoint": ".ipynb_checkpoints/a-checkpoint.ipynb",
            "change a task of an editor": ".vscode/tasks.json",
            "change variables of the shell": ".envrc",
        }.items()
    ),
    Attempt(
        "change a hook of Git by a second name",
        "os.link('.git/hooks/pre-commit', 'hook'); append('hook', f'# {MARK} again')",
        proof="notebooks/FOLDER/hook",
    ),
    Attempt(
        "change a hook of Git by the path of an open folder",
        "held = os.open('.git', os.O_RDONLY)\nappend(f'/proc/self/fd/{held}/description')",
        proof="notebooks/FOLDER/.git/description",
    ),
    *plain(
        {
            "give Git's folder another name": (
                "os.rename('.git', 'other'); os.rename('other', '.git')"
            ),
            "give a folder in it another name": (
                "os.rename('.git/hooks', '.git/gone'); os.rename('.git/gone', '.git/hooks')"
            ),
            "put a folder of its own in its place": (
                "os.rename('deep/er', 'deep/moved'); os.rename('deep/moved', 'deep/er')"
            ),
            "make it writable": "os.chmod('.git/hooks/pre-commit', 0o777)",
        }
    ),
)

LEFT = plain(
    {
        f"leave {what} for {reader}": f"{code.format(name)}; os.unlink({name!r})"
        for reader, name in {
            "Jupyter's save": ".~private.ipynb",
            "Verify": "data.txt",
            "the next conversation": "AGENTS.md",
        }.items()
        for what, code in {
            "a link": "os.symlink(HOME + '/.bashrc', {!r})",
            "a pipe": "os.mkfifo({!r})",
        }.items()
    }
)
"""Not tried in an overlay, where links and pipes stay."""
