"""Whether a reading is true: checked here, with the standalone verifier, not by the server."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._verifier import Refused, in_words, is_demonstration, read_network, verify

__all__ = ['Proof', 'Refused', 'network_file', 'verify_bundle']


@dataclass(frozen=True)
class Proof:
    """A bundle of which every check holds."""

    bundle: bytes
    """The file to keep: it stays valid without the network."""
    reading: dict[str, Any]
    """As it was anchored, in whole hundredths."""
    checks: tuple[str, ...]
    words: tuple[str, ...]
    """What is proven, what was not asked, and what is left to trust."""
    is_demonstration: bool
    """The operator runs this chain, so it proves nothing about time."""


def network_file(data: bytes) -> dict[str, Any]:
    """Reads a network file, as `GET /v1/network` gives it: keep one, from a source that you trust."""
    return read_network(data)


def verify_bundle(
    bundle: bytes,
    *,
    network: dict[str, Any] | None = None,
    chain_id: int | None = None,
    contract: str | None = None,
    block_hash: str | None = None,
) -> Proof:
    """Checks a bundle offline. Raises Refused, which names the check that failed."""
    checks: list[str] = []
    read = verify(bundle, chain_id, contract, block_hash,
                  lambda check, words: checks.append(f'{check}: {words}'), network)
    words = tuple(in_words(read, chain_id, contract, block_hash, network))
    return Proof(bundle, read['reading'], tuple(checks), words, is_demonstration(read, network))
