"""The network, including this machine's own addresses."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, Control, plain

NETWORK = (
    *plain(
        {
            "connect to a program on this machine": (
                "answers(socket.AF_INET, ('127.0.0.1', LISTENER))"
            ),
            "connect to an abstract socket": "answers(socket.AF_UNIX, ABSTRACT)",
            "connect to a socket in the home folder": "answers(socket.AF_UNIX, f'{HOME}/agent')",
            "connect to another sandboxed kernel": (
                "one = socket.socket(socket.AF_UNIX); one.connect(OTHER_SOCKET)"
            ),
            "find the sockets of other sandboxed kernels": "os.listdir(OTHER_PLACE)",
        }
    ),
    Attempt(
        "send a datagram to a program on this machine",
        "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "one.sendto(MARK.encode(), ('127.0.0.1', DATAGRAMS))",
        proof="a datagram",
    ),
    *plain(
        {
            "make a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()",
            "make a packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()",
            "change the machine's network": (
                "one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n"
                "one.setsockopt(270, 12, 1)\n"
                "one.settimeout(2)\n"
                "# RTM_SETLINK for a card that does not exist\n"
                "import struct\n"
                "one.send(struct.pack('=IHHIIBxHiII', 32, 19, 5, 1, 0, 0, 0, 1 << 30, 0, 0))\n"
                "code = -struct.unpack('=i', one.recv(4096)[16:20])[0]\n"
                "assert code not in (errno.EPERM, errno.EACCES), code\n"
            ),
        },
        Control.ROOT,
    ),
    *plain(
        {
            "connect to it by IPv6": "answers(socket.AF_INET6, ('::1', LISTENER_6))",
            "connect to another machine": "socket.create_connection(('1.1.1.1', 443), 2)",
            "ask for the name of another machine": "socket.getaddrinfo('example.com', 443)",
            "ask the cloud for credentials": "socket.create_connection(('169.254.169.254', 80), 2)",
            "call all machines nearby": (
                "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n"
                "one.sendto(b'x', ('255.255.255.255', 9))"
            ),
            "connect to the host of a virtual machine": (
                "socket.socket(40, socket.SOCK_STREAM).close()"
            ),
            "use the cryptography of the Linux kernel": (
                "socket.socket(38, socket.SOCK_SEQPACKET).close()"
            ),
            "talk to the system's bus": (
                "one = socket.socket(socket.AF_UNIX); one.connect('/run/dbus/system_bus_socket')"
            ),
            "talk to docker": (
                "one = socket.socket(socket.AF_UNIX); one.connect('/var/run/docker.sock')"
            ),
        },
        Control.SOME,
    ),
)
