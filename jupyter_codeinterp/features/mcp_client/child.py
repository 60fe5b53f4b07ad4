"""Starts a program that ends with the Jupyter server, even if the server is killed.

Run as a script, with the parent's process id, the program and its arguments. Linux sends SIGKILL
to the program as soon as its parent ends; elsewhere the program must end with its standard input.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, argv: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # The parent has ended.
            return
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(f"Cannot start {argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
