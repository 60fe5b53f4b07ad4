"""Attempts to exceed limits, in a kernel with small ones. Without a limit, the same code is
harmless."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, Control, Groups, plain

MIB = 1024**2
SMALL = {
    "memory": 1024 * MIB,
    "processes": 100,
    "open_files": 200,
    "file_size": 50 * MIB,
    "scratch": 60 * MIB,
    "disk": 200 * MIB,
}
"""The traits of the kernel's provisioner."""


def _fills(path: str) -> str:
    return (
        f"path = {path}\ntry:\n"
        "    for number in range(4):\n"
        "        with open(f'{path}-{number}', 'wb') as file:\n"
        "            file.write(bytes(30 * 2**20))\n"
        "finally:\n    for one in glob.glob(f'{path}-*'):\n        os.remove(one)"
    )


FORKS = """
made = []
try:
    for _ in range(150):
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        made.append(pid)
finally:
    for pid in made:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
"""
TOGETHER = """
made = []
try:
    for _ in range(4):
        takes = "made = bytearray(400 * 2**20); print(1, flush=True); import time; time.sleep(60)"
        one = subprocess.Popen([sys.executable, "-c", takes.replace("bytearray", "b'1' * ", 1)],
                               stdout=subprocess.PIPE)
        made.append(one)
    assert all(one.stdout.readline() == b"1\\n" and one.poll() is None for one in made)
    time.sleep(0.2)
    assert all(one.poll() is None for one in made)
finally:
    for one in made:
        one.kill()
        one.communicate()
"""
THREADS = """
import threading
end = threading.Event()
made = []
try:
    for _ in range(150):
        one = threading.Thread(target=end.wait, daemon=True)
        one.start()
        made.append(one)
finally:
    end.set()
    for one in made:
        one.join()
"""
SMALL_FILES = """
import shutil
os.mkdir(MARK)
try:
    for number in range(3000):
        with open(f"{MARK}/{number}", "wb") as file:
            file.write(bytes(128 * 1024))
        time.sleep(0.001)
finally:
    shutil.rmtree(MARK)
"""
TAKES_SPACE = """
with open(MARK, "wb") as file:
    os.remove(MARK)
    if LIBC.syscall(*map(number, (CALLS["fallocate"], file.fileno(), 0, 0, 2**20))):
        raise OSError(ctypes.get_errno(), "fallocate")
"""

BOUNDS: tuple[Attempt, ...] = (
    *plain(
        {
            "take more memory": "made = bytearray(2 * 2**30); del made",
            "map more memory": "import mmap; mmap.mmap(-1, 2 * 2**30, flags=0x22).close()",
            "start more threads": THREADS,
            "make a larger file": (
                "file = open('large', 'wb')\ntry:\n    file.truncate(2**30)\n"
                "finally:\n    file.close(); os.remove('large')"
            ),
            "fill the temporary folder": _fills("f'/tmp/codeinterp-{MARK}'"),
            "fill shared memory": _fills("f'/dev/shm/codeinterp-{MARK}'"),
            "fill its own temporary folder": (
                "import tempfile\n" + _fills("f'{tempfile.gettempdir()}/{MARK}'")
            ),
            "fill the home folder": _fills("f'{HOME}/filled'"),
            "take space on the disk that does not count as written": TAKES_SPACE,
        }
    ),
    *plain(
        {"open more files": "made = [open('/dev/null') for _ in range(300)]; del made"},
        Control.SOME,
    ),
    Attempt("start more processes", FORKS, groups=Groups.OF_ROOT),
    Attempt("take more memory in several processes", TOGETHER, groups=Groups.OF_ALL),
    # The last one, because the kernel may write no more afterwards.
    Attempt("fill the disk with many small files", SMALL_FILES),
)
