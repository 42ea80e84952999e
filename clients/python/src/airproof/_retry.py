"""When a request is sent again, and after how long."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from random import random

import httpx

from ._call import Call

REFUSED_FOR_NOW = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Retry:
    """Bounds of what the client does by itself."""

    most: int = 6
    """How often a request is sent again."""
    longest_wait_seconds: float = 120
    """A server that asks for more than this is not waited for: the error says when to try again."""

    def after_answer(self, call: Call[object], response: httpx.Response, sent: int) -> float | None:
        """Seconds to wait, or None if the answer is final."""
        if response.status_code not in REFUSED_FOR_NOW or sent > self.most:
            return None
        # 429 is said before anything was done
        if response.status_code != 429 and not call.is_repeatable():
            return None
        wait = asked_for(response)
        if wait is None:
            return backoff(sent)
        return wait if wait <= self.longest_wait_seconds else None

    def after_failure(self, call: Call[object], failure: httpx.TransportError, sent: int) -> float | None:
        """Seconds to wait, or None if it is not sent again."""
        never_arrived = isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout))
        if sent > self.most or not (never_arrived or call.is_repeatable()):
            return None
        return backoff(sent)


def backoff(sent: int) -> float:
    """Longer each time, and not the same for everyone."""
    return float(min(30, 0.5 * 2 ** (sent - 1)) * (0.5 + random() / 2))


def asked_for(response: httpx.Response) -> float | None:
    """Retry-After in seconds: ours is a number, a proxy's may be a date."""
    text: str = response.headers.get('retry-after', '')
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(text).astimezone(timezone.utc)
    except (ValueError, TypeError):
        return None
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())
