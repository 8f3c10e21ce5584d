"""Many callers at once, each with a connection of its own that it keeps."""

import http.client
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from urllib.parse import urlsplit

WALLETS = "/v1/wallets?blockchain=solana&type=kol"

# What a call was answered with: its status, or None when the connection broke before there was one.
Answers = Counter[int | None]


def call_at_once(
    url: str, key: str, calls: int, *, callers: int, after: Callable[[int], None] = lambda _: None
) -> Answers:
    """`calls` calls of the list operation, spread over callers that begin together.

    `after` is told the number of each answer, from whichever caller got it.
    """
    address = urlsplit(url)
    started = Barrier(callers)
    calls_left = iter(range(calls))
    answers_so_far = count(1)

    def call_until_done() -> Answers:
        answers: Answers = Counter()
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
        started.wait()
        for _ in calls_left:
            try:
                connection.request("GET", WALLETS, headers={"Authorization": f"Bearer {key}"})
                response = connection.getresponse()
                response.read()
                answers[response.status] += 1
            except (http.client.HTTPException, OSError):
                answers[None] += 1
                connection.close()
            after(next(answers_so_far))
        connection.close()
        return answers

    with ThreadPoolExecutor(callers) as pool:
        futures = [pool.submit(call_until_done) for _ in range(callers)]
        return sum((future.result() for future in futures), Counter())
