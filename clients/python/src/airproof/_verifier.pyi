from collections.abc import Callable, Iterator
from typing import Any

class Refused(Exception):
    check: str
    reason: str

class NotANetwork(Exception): ...

def read_network(data: bytes) -> dict[str, Any]: ...
def verify(
    data: bytes,
    chain_id: int | None = None,
    contract: str | None = None,
    block_hash: str | None = None,
    passed: Callable[[str, str], None] = ...,
    network: dict[str, Any] | None = None,
) -> dict[str, Any]: ...
def in_words(
    bundle: dict[str, Any],
    chain_id: int | None,
    contract: str | None,
    block_hash: str | None,
    network: dict[str, Any] | None,
) -> Iterator[str]: ...
def is_demonstration(bundle: dict[str, Any], network: dict[str, Any] | None) -> bool: ...
