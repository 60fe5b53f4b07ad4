"""Request ``/api/status`` every 10 ms until the input ends; print the seconds of each request as
JSON.

python -m scripts.benchmark.poll URL TOKEN
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from urllib.parse import urlsplit

PAUSE = 0.01


def main() -> None:
    url, token = sys.argv[1:]
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    ended = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=(ended,), daemon=True).start()
    times = []
    while not ended.is_set():
        asked = time.monotonic()
        connection.request("GET", "/api/status", headers={"Authorization": f"token {token}"})
        response = connection.getresponse()
        response.read()
        times.append(time.monotonic() - asked)
        if response.status != 200:
            raise RuntimeError(f"/api/status answered {response.status}")
        time.sleep(PAUSE)
    print(json.dumps(times))


def _wait_for_the_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()
