"""Files of other users and of the system."""

from __future__ import annotations

from scripts.escapes.attempt import Control, plain


def _written(path: str) -> str:
    """Code that writes a file, then removes it."""
    return f"path = {path}\nopen(path, 'x').close()\nos.remove(path)"


_OPENED = "file = os.open(f'{sys.prefix}/pyvenv.cfg', os.O_RDONLY)\n"
"""Opens the file to read, because the following calls need no right to write. They change
nothing."""

SYSTEM = (
    *plain(
        {
            "read a file of another user": "open(OTHERS).read()",
            "read a temporary file of another program": "open(TEMPORARY).read()",
            "read the names of the users": "assert len(open('/etc/passwd').readlines()) > 1",
            "read the logs": "assert os.listdir('/var/log')",
            "see the machine's network cards": "assert os.listdir('/sys/class/net') != ['lo']",
            "see the control groups": "assert os.listdir('/sys/fs/cgroup')",
            "read a file in shared memory": "open(SHARED).read()",
            "read a variable of the server": "assert os.environ['A_SECRET']",
        }
    ),
    *plain(
        {
            "read the machine's id": "assert open('/etc/machine-id').read()",
            "learn the machine's name": "assert socket.gethostname() == MACHINE",
            "see the machine's services": "assert os.listdir('/run/systemd')",
            "set the flags of a file of the Python environment": (
                f"{_OPENED}import array, fcntl\n"
                "flags = array.array('l', [0])\n"
                "fcntl.ioctl(file, 0x80086601, flags); fcntl.ioctl(file, 0x40086602, flags)\n"
                "os.close(file)"
            ),
        },
        Control.SOME,
    ),
    *plain(
        {
            "read the passwords of the system": "open('/etc/shadow').read()",
            "read a file of root": "open(ROOTS).read()",
            "add a program to the system": _written("'/usr/local/bin/codeinterp-escape'"),
            "change the settings of the system": _written("'/etc/codeinterp-escape'"),
            "change the Python environment": _written("f'{sys.prefix}/codeinterp-escape'"),
            "mark a file of the Python environment": (
                f"{_OPENED}os.setxattr(file, 'user.codeinterp', b'1')\n"
                "os.removexattr(file, 'user.codeinterp'); os.close(file)"
            ),
            "give a file of the Python environment to its group": (
                f"{_OPENED}os.fchown(file, -1, os.fstat(file).st_gid); os.close(file)"
            ),
            "make a device": (
                "path = 'device'; os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 1))\n"
                "os.remove(path)"
            ),
            "set where crashes are written": (
                "os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY))"
            ),
            "read the messages of the Linux kernel": "open('/dev/kmsg', 'rb').close()",
            "give a file to another user": (
                "open('mine', 'w').close(); os.chown('mine', 65534, -1); os.remove('mine')"
            ),
            "run a program as its owner": (
                "assert program('./as-its-owner', '-u').strip() != str(os.getuid())"
            ),
            "become another user": "fresh('os.setuid(65534)')",
        },
        Control.ROOT,
    ),
    *plain(
        {
            "open a disk": (
                "made = [line.split() for line in open('/proc/partitions') if line[:1] == ' ']\n"
                "os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(*map(int, made[0][:2])))\n"
                "try:\n    open('disk', 'rb').read(512)\nfinally:\n    os.remove('disk')"
            ),
            "read the addresses of the Linux kernel": (
                "assert int(open('/proc/kallsyms').readline().split()[0], 16)"
            ),
            "open the memory of the Linux kernel": "assert open('/proc/kcore', 'rb').read(4)",
            "open the memory of all programs": "open('/dev/mem', 'rb').close()",
            "press the keys of the machine's console": (
                "os.open('/proc/sysrq-trigger', os.O_WRONLY)"
            ),
            "read a file of firmware": "assert os.listdir('/sys/firmware')",
        },
        Control.SOME,
    ),
    *plain(
        {
            "leave a program that others run as you": (
                "open('tool', 'w').close(); os.chmod('tool', 0o4755)\n"
                "assert os.stat('tool').st_mode & stat.S_ISUID"
            ),
            "leave such a program by its open file": (
                "file = open('tool-2', 'w'); os.fchmod(file.fileno(), 0o4755)\n"
                "assert os.stat('tool-2').st_mode & stat.S_ISUID"
            ),
            "leave such a program as it is made": (
                "os.close(os.open('tool-3', os.O_CREAT | os.O_WRONLY, 0o4755))\n"
                "assert os.stat('tool-3').st_mode & stat.S_ISUID"
            ),
        }
    ),
)
