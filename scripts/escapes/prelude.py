"""Code that the attempts may use: names of the world, and calls that Python lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HELPERS = """
import ctypes, errno, glob, os, pathlib, signal, socket, stat, subprocess, sys, time

LIBC = ctypes.CDLL(None, use_errno=True)
PROXIED = os.path.exists("/run/network")
HELD = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH)

def number(value):
    return ctypes.c_long(value) if isinstance(value, int) else value

def reaches(name, *given):
    '''Raises if the system call is refused. An error about its arguments is no refusal.'''
    result = LIBC.syscall(ctypes.c_long(CALLS[name]), *map(number, given))
    if result == -1 and ctypes.get_errno() in HELD:
        raise PermissionError(ctypes.get_errno(), name)
    return result

def fresh(code):
    '''Runs code in a process of its own, which must succeed.'''
    text = f"{PRELUDE_TEXT}\\nPRELUDE_TEXT = ''\\n{code}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=15)
    if done.returncode:
        raise ChildProcessError(f"{done.returncode}: {done.stderr[-300:]}")
    return done.stdout.decode()

def answers(family, address):
    '''Raises if nothing outside answers at this address.'''
    with socket.socket(family) as one:
        one.settimeout(1)
        one.connect(address)
        assert one.recv(5) == b"hello"

def way(host, port):
    '''A connection to the proxy, or without a proxy to the host.'''
    if not PROXIED:
        return socket.create_connection((host, port), 5)
    name, _, at = os.environ["HTTP_PROXY"].rpartition("/")[2].partition(":")
    return socket.create_connection((name, int(at)), 5)

def tunnel(host, port):
    '''Raises if the proxy does not lead there.'''
    one = way(host, port)
    if PROXIED:
        name = f"[{host}]" if ":" in host else host
        one.sendall(f"CONNECT {name}:{port} HTTP/1.1\\r\\nHost: {name}\\r\\n\\r\\n".encode())
        said = one.recv(4096)
        assert said.startswith(b"HTTP/1.1 200"), said
    return one

def tunnel_answers(host, port):
    with tunnel(host, port) as one:
        assert one.recv(5) == b"hello"

def append(path, text=None):
    with open(path, "a") as file:
        file.write(text or MARK)

def program(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout
"""


def prelude(names: Mapping[str, Any]) -> str:
    """Code that a kernel runs before the attempts."""
    given = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    text = f"{HELPERS}\n{given}\n"
    return f"{text}\nPRELUDE_TEXT = {text!r}\n"
