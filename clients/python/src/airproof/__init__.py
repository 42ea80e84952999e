"""Client of an airproof network: readings of air-quality sensors, with their proofs."""
from ._call import AsyncPages, Pages
from ._client import AsyncClient, Client
from ._errors import AirproofError, ApiError, Disconnected
from ._stream import StreamEvent
from ._verify import Proof, Refused, network_file, verify_bundle

__all__ = [
    'AirproofError',
    'ApiError',
    'AsyncClient',
    'AsyncPages',
    'Client',
    'Disconnected',
    'Pages',
    'Proof',
    'Refused',
    'StreamEvent',
    'network_file',
    'verify_bundle',
]
