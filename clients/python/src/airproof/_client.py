"""The client, in both forms. Both make the same requests: what they share is beside this file."""
from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack, cast

import httpx

from ._call import Call
from ._errors import ApiError, Disconnected
from ._generated import AsyncOperations, ChangesPage, ListChangesQuery, Operations
from ._retry import Retry, backoff
from ._stream import MOMENTARY, SILENCE_SECONDS, EventReader, StreamEvent
from ._verify import Proof, network_file, verify_bundle

T = TypeVar('T')
VERSION = '0.1.0'
MOST_CHANGES = 5_000


class StreamQuery(TypedDict, total=False):
    """What a stream is of."""

    sensor_id: str
    area: str
    bbox: str


class ChangesQuery(TypedDict, total=False):
    """What changes are of."""

    sensor_id: str
    area: str


def _after(after: str | None, query: ChangesQuery) -> ListChangesQuery:
    begun = {} if after is None else {'after': after}
    return cast(ListChangesQuery, {**query, **begun, 'limit': MOST_CHANGES})


def _settings(key: str | None, timeout: float) -> dict[str, Any]:
    headers = {'accept': 'application/json', 'user-agent': f'airproof-python/{VERSION}'}
    if key is not None:
        headers['authorization'] = f'Bearer {key}'
    return {'headers': headers, 'timeout': timeout}


def _request(http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
    return http.build_request(
        call.method, call.url(), params=call.params(), headers=call.sent_headers(),
        json=call.body)


def _stream_request(
    http: httpx.Client | httpx.AsyncClient, query: StreamQuery, last_id: str | None,
) -> httpx.Request:
    params = {name: str(value) for name, value in query.items()}
    if last_id is not None:
        params['last_event_id'] = last_id
    return http.build_request(
        'GET', '/v1/stream', params=params, headers={'accept': 'text/event-stream'},
        timeout=httpx.Timeout(10, read=SILENCE_SECONDS))


_STREAM: Call[Any] = Call('GET', '/v1/stream')


def _proof_call(sensor_id: str, timestamp: str | datetime) -> Call[Any]:
    return Call('GET', '/v1/readings/{}/proof', (sensor_id,), {'timestamp': timestamp})


class Client(Operations):
    """A network's `/v1`. Requests that are refused for a moment, or break off, are sent again.

    Every operation of the document is a method; `readings()`, `sensors()` and the other lists go
    through all pages. Close it, or use it with `with`.
    """

    def __init__(
        self, url: str, key: str | None = None, *, retry: Retry = Retry(), timeout: float = 60,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client(**_settings(key, timeout), base_url=url)
        self._retry = retry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _do(self, call: Call[T]) -> T:
        return cast(T, self._send(call).json())

    def _send(self, call: Call[Any]) -> httpx.Response:
        sent = 0
        while True:
            sent += 1
            try:
                response = self._http.send(_request(self._http, call))
            except httpx.TransportError as failure:
                wait = self._retry.after_failure(call, failure, sent)
                if wait is None:
                    raise Disconnected(f'{call.method} {call.url()}: {failure!r}') from failure
            else:
                if response.is_success:
                    return response
                wait = self._retry.after_answer(call, response, sent)
                if wait is None:
                    raise ApiError(response)
            time.sleep(wait)

    def verify(
        self, sensor_id: str, timestamp: str | datetime, *, network: dict[str, Any] | None = None,
        block_hash: str | None = None,
    ) -> Proof:
        """Fetches the proof of a reading and checks it here. Raises `Refused` if it does not hold.

        `network`: from a file that you kept (`network_file`); else it is the server's own word.
        """
        if network is None:
            network = network_file(self._send(Call('GET', '/v1/network')).content)
        bundle = self._send(_proof_call(sensor_id, timestamp)).content
        return verify_bundle(bundle, network=network, block_hash=block_hash)

    def changes(
        self, after: str | None = None, **query: Unpack[ChangesQuery],
    ) -> Iterator[ChangesPage]:
        """Pages of what was accepted since `after`, until you have everything.

        Keep `next_cursor` of each page together with its readings: `changes(kept)` goes on from
        there tomorrow, and `stream(kept)` at once. Without `after` it begins with what is accepted
        from now on; with `start` with the oldest that the log holds. A page whose `gap` is not None
        passed something over, and says where that is.
        """
        more = True
        while more:
            page = cast(ChangesPage, self.list_changes(**_after(after, query)))
            yield page
            after, more = page['next_cursor'], page['more']

    def stream(
        self, last_event_id: str | None = None, **query: Unpack[StreamQuery],
    ) -> Iterator[StreamEvent]:
        """What happens, as it happens, without end. After a broken connection it goes on where it was."""
        reader = EventReader(last_event_id)
        failed = 0
        while True:
            failed += 1
            try:
                request = _stream_request(self._http, query, reader.last_id)
                response = self._http.send(request, stream=True)
                try:
                    if response.status_code != 200:
                        response.read()
                        wait = self._retry.after_answer(_STREAM, response, failed)
                        if wait is None:
                            raise ApiError(response)
                        time.sleep(wait)
                        continue
                    for line in response.iter_lines():
                        failed = 0
                        for event, data in reader.take(line):
                            received = StreamEvent(event, json.loads(data), reader.last_id)
                            yield received
                            if event == 'end' and received.data.get('code') not in MOMENTARY:
                                return
                finally:
                    response.close()
            except httpx.TransportError as failure:
                if failed > self._retry.most:
                    raise Disconnected(f'the stream: {failure!r}') from failure
            reader.broke_off()
            time.sleep(backoff(failed + 1))


class AsyncClient(AsyncOperations):
    """The same as `Client`, to be awaited."""

    def __init__(
        self, url: str, key: str | None = None, *, retry: Retry = Retry(), timeout: float = 60,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx.AsyncClient(**_settings(key, timeout), base_url=url)
        self._retry = retry

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _do(self, call: Call[T]) -> T:
        return cast(T, (await self._send(call)).json())

    async def _send(self, call: Call[Any]) -> httpx.Response:
        sent = 0
        while True:
            sent += 1
            try:
                response = await self._http.send(_request(self._http, call))
            except httpx.TransportError as failure:
                wait = self._retry.after_failure(call, failure, sent)
                if wait is None:
                    raise Disconnected(f'{call.method} {call.url()}: {failure!r}') from failure
            else:
                if response.is_success:
                    return response
                wait = self._retry.after_answer(call, response, sent)
                if wait is None:
                    raise ApiError(response)
            await asyncio.sleep(wait)

    async def verify(
        self, sensor_id: str, timestamp: str | datetime, *, network: dict[str, Any] | None = None,
        block_hash: str | None = None,
    ) -> Proof:
        """Fetches the proof of a reading and checks it here. Raises `Refused` if it does not hold.

        `network`: from a file that you kept (`network_file`); else it is the server's own word.
        """
        if network is None:
            network = network_file((await self._send(Call('GET', '/v1/network'))).content)
        bundle = (await self._send(_proof_call(sensor_id, timestamp))).content
        return verify_bundle(bundle, network=network, block_hash=block_hash)

    async def changes(
        self, after: str | None = None, **query: Unpack[ChangesQuery],
    ) -> AsyncIterator[ChangesPage]:
        """Pages of what was accepted since `after`, until you have everything.

        Keep `next_cursor` of each page together with its readings: `changes(kept)` goes on from
        there tomorrow, and `stream(kept)` at once. Without `after` it begins with what is accepted
        from now on; with `start` with the oldest that the log holds. A page whose `gap` is not None
        passed something over, and says where that is.
        """
        more = True
        while more:
            page = cast(ChangesPage, await self.list_changes(**_after(after, query)))
            yield page
            after, more = page['next_cursor'], page['more']

    async def stream(
        self, last_event_id: str | None = None, **query: Unpack[StreamQuery],
    ) -> AsyncIterator[StreamEvent]:
        """What happens, as it happens, without end. After a broken connection it goes on where it was."""
        reader = EventReader(last_event_id)
        failed = 0
        while True:
            failed += 1
            try:
                request = _stream_request(self._http, query, reader.last_id)
                response = await self._http.send(request, stream=True)
                try:
                    if response.status_code != 200:
                        await response.aread()
                        wait = self._retry.after_answer(_STREAM, response, failed)
                        if wait is None:
                            raise ApiError(response)
                        await asyncio.sleep(wait)
                        continue
                    async for line in response.aiter_lines():
                        failed = 0
                        for event, data in reader.take(line):
                            received = StreamEvent(event, json.loads(data), reader.last_id)
                            yield received
                            if event == 'end' and received.data.get('code') not in MOMENTARY:
                                return
                finally:
                    await response.aclose()
            except httpx.TransportError as failure:
                if failed > self._retry.most:
                    raise Disconnected(f'the stream: {failure!r}') from failure
            reader.broke_off()
            await asyncio.sleep(backoff(failed + 1))
