"""Server-sent events (the HTML standard's format), and the id to go on from."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# a ping comes every 15 seconds
SILENCE_SECONDS = 45.0
# the ends after which another connection may succeed; a revoked key would be refused for ever
MOMENTARY = frozenset({'interrupted', 'stopping', 'keys_unknown'})


@dataclass(frozen=True)
class StreamEvent:
    """What happened.

    `event` is `reading`, `reading.late`, `sensor.online`, `sensor.offline`, `sensor.quality`, `gap`
    or `end`.
    """

    event: str
    data: dict[str, Any]
    id: str | None
    """Give it as `last_event_id` to go on after this event."""


@dataclass
class EventReader:
    """Takes lines, gives events."""

    last_id: str | None = None
    _event: str = ''
    _data: str = ''
    _id: str | None = None

    def take(self, line: str) -> Iterator[tuple[str, str]]:
        """At most one event: its kind and its data."""
        if line == '':
            # only whole blocks count: one that broke off is sent again
            if self._id is not None:
                self.last_id = self._id
            # a ping only says that the connection lives
            if self._data and self._event != 'ping':
                yield self._event or 'message', self._data.removesuffix('\n')
            self._event, self._data = '', ''
            return
        field, _, value = line.partition(':')
        value = value.removeprefix(' ')
        if field == 'event':
            self._event = value
        elif field == 'data':
            self._data += value + '\n'
        elif field == 'id':
            self._id = value

    def broke_off(self) -> None:
        """The next line is the first of another connection."""
        self._event, self._data, self._id = '', '', self.last_id
