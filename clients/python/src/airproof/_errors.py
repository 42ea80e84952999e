"""What can go wrong."""
from __future__ import annotations

import httpx


class AirproofError(Exception):
    """Every error of this package."""


class Disconnected(AirproofError):
    """The server could not be reached, or the connection kept breaking."""


class ApiError(AirproofError):
    """The server refused; `code` says why, for programs (docs: `/v1/docs`, errors)."""

    def __init__(self, response: httpx.Response) -> None:
        try:
            body = response.json()
            error = body['error']
            self.code: str = error['code']
            self.details: dict[str, object] = error.get('details') or {}
            message = error['message']
        except (ValueError, KeyError, TypeError):
            # a proxy's own answer
            self.code, self.details, message = 'http', {}, response.reason_phrase
        self.status = response.status_code
        self.request_id: str | None = response.headers.get('x-request-id')
        self.retry_after: str | None = response.headers.get('retry-after')
        super().__init__(f'{self.status} {self.code}: {message}')
