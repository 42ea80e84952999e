"""A request as data, and the pages of a list."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import quote

from ._pandas import frame

if TYPE_CHECKING:
    import pandas

T = TypeVar('T')
# all that a page may have: fewer requests for the same rows
PAGE = 1_000


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. T: its answer."""

    method: str
    path: str
    named: tuple[str, ...] = ()
    query: Mapping[str, object] | None = None
    headers: tuple[str, ...] = ()
    """Those of `query` that are sent as headers."""
    body: Mapping[str, object] | None = None

    def url(self) -> str:
        return self.path.format(*(quote(name, safe='') for name in self.named))

    def params(self) -> dict[str, str]:
        query = self.query or {}
        return {name: _text(value) for name, value in query.items()
                if value is not None and name not in self.headers}

    def sent_headers(self) -> dict[str, str]:
        query = self.query or {}
        return {name.replace('_', '-'): _text(query[name]) for name in self.headers if name in query}

    def with_query(self, **more: object) -> Call[T]:
        return replace(self, query={**(self.query or {}), **more})

    def is_repeatable(self) -> bool:
        """Whether it may be sent again although it may have been carried out."""
        return self.method == 'GET' or 'idempotency-key' in self.sent_headers()


class Caller(ABC):
    """What the operations are made with."""

    @abstractmethod
    def _do(self, call: Call[T]) -> T:
        """Its answer, or raises."""


class AsyncCaller(ABC):
    """The same, to be awaited."""

    @abstractmethod
    async def _do(self, call: Call[T]) -> T:
        """Its answer, or raises."""


class Pages(Generic[T]):
    """Everything in a list, fetched page by page as it is read. It begins again at each `for`."""

    def __init__(self, caller: Caller, call: Call[Any], field: str) -> None:
        self._caller, self._call, self._field = caller, call, field

    def pages(self) -> Iterator[list[T]]:
        """The same, a page at a time."""
        cursor: str | None = None
        while True:
            page = self._caller._do(self._call.with_query(limit=PAGE, cursor=cursor))
            yield cast('list[T]', page[self._field])
            cursor = page['next_cursor']
            if cursor is None:
                return

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each; times are UTC. Needs pandas (`pip install airproof[pandas]`)."""
        return frame(self.pages())


class AsyncPages(Generic[T]):
    """Everything in a list, fetched page by page as it is read. It begins again at each `async for`."""

    def __init__(self, caller: AsyncCaller, call: Call[Any], field: str) -> None:
        self._caller, self._call, self._field = caller, call, field

    async def pages(self) -> AsyncIterator[list[T]]:
        """The same, a page at a time."""
        cursor: str | None = None
        while True:
            page = await self._caller._do(self._call.with_query(limit=PAGE, cursor=cursor))
            yield cast('list[T]', page[self._field])
            cursor = page['next_cursor']
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page:
                yield item

    async def to_pandas(self) -> pandas.DataFrame:
        """A row for each; times are UTC. Needs pandas (`pip install airproof[pandas]`)."""
        return frame([page async for page in self.pages()])


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ','.join(str(one) for one in value)
    return str(value)
