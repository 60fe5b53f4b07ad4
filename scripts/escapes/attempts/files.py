"""Files of the person who runs the kernel."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, plain

FILES = (
    *plain(
        {
            "read a private key": "open(f'{HOME}/.ssh/id_ed25519').read()",
            "read a file of another project": "open(f'{HOME}/project/data.csv').read()",
            "read it by a path with two dots": "open('../../project/data.csv').read()",
            "list the home folder": "assert 'project' in os.listdir(HOME)",
            "read a private key through a link that was there": "open('link').read()",
            "read a private key by a second name": (
                "os.link(f'{HOME}/.ssh/id_ed25519', 'second'); open('second').read()"
            ),
            "read a private key in a program that it starts": (
                "program('cat', f'{HOME}/.ssh/id_ed25519')"
            ),
            "learn the size of a private key": "assert os.stat(f'{HOME}/.ssh/id_ed25519').st_size",
            "let everyone read a private key": (
                "path = f'{HOME}/.ssh/id_ed25519'\n"
                "os.chmod(path, 0o604); assert os.stat(path).st_mode & 0o777 == 0o604"
            ),
            "change the time of a file of another project": (
                "path = f'{HOME}/project/data.csv'\n"
                "os.utime(path, (5, 5)); assert os.stat(path).st_mtime == 5"
            ),
            "learn of new files in another project": (
                "watch = LIBC.inotify_init()\n"
                "assert LIBC.inotify_add_watch(watch, f'{HOME}/project'.encode(), 0x100) > 0\n"
                "os.close(watch)"
            ),
            "go to the home folder": "fresh('os.chdir(f\"{HOME}/project\")')",
            "read another notebook of the server": "open('../private.ipynb').read()",
        }
    ),
    Attempt("change the start of the shell", "append(f'{HOME}/.bashrc')", proof=".bashrc"),
    Attempt(
        "allow a key to log in",
        "os.makedirs(f'{HOME}/.ssh', exist_ok=True); append(f'{HOME}/.ssh/authorized_keys')",
        proof=".ssh/authorized_keys",
    ),
    Attempt(
        "leave code that every kernel runs at its start",
        "os.makedirs(STARTUP, exist_ok=True); append(f'{STARTUP}/00.py', f'# {MARK}')",
        proof="ipython/profile_default/startup/00.py",
    ),
    Attempt(
        "leave code that every Python runs at its start",
        "os.makedirs(USER_SITE, exist_ok=True)\n"
        "append(f'{USER_SITE}/usercustomize.py', f'# {MARK}\\n')",
        proof="usercustomize.py",
    ),
    Attempt(
        "change a file of another project",
        "append(f'{HOME}/project/data.csv')",
        proof="project/data.csv",
    ),
)
