#!/usr/bin/env python3
"""Checks airproof proof bundles, offline, with Python's standard library alone.

    python3 verify.py [--network FILE] [--block-hash 0x...] [--chain-id N] [--contract 0x...] FILE...

Written from docs/proofs.md; the names of the checks are those of that page. Exit code 0: every
bundle is proven. 1: one was refused, and the reason is printed. 2: not used properly.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from unicodedata import category


class Refused(Exception):
    """A check that failed: its name, and the reason in words."""

    def __init__(self, check, reason):
        super().__init__(f'{check}: {reason}')
        self.check = check
        self.reason = reason


class Malformed(Exception):
    """Bytes that are not what they should be. The check that reads them turns it into Refused."""


# --- Keccak-256 ------------------------------------------------------------------------------

MASK = (1 << 64) - 1


def _constants():
    """Round constants, and for each lane its rotation and the lane it moves to."""
    rounds, register = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        rounds.append(constant)
    moves, x, y = [(0, 0, 0)], 1, 0
    for t in range(24):
        to_x, to_y = y, (2 * x + 3 * y) % 5
        moves.append((x + 5 * y, to_x + 5 * to_y, (t + 1) * (t + 2) // 2 % 64))
        x, y = to_x, to_y
    return rounds, moves


ROUNDS, MOVES = _constants()


def _permute(a):
    for constant in ROUNDS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[x - 1] ^ ((c[(x + 1) % 5] << 1 | c[(x + 1) % 5] >> 63) & MASK) for x in range(5)]
        b = [0] * 25
        for source, target, rotation in MOVES:
            lane = a[source] ^ d[source % 5]
            b[target] = (lane << rotation | lane >> (64 - rotation)) & MASK
        for y in (0, 5, 10, 15, 20):
            r = b[y:y + 5]
            for x in range(5):
                a[y + x] = r[x] ^ (~r[(x + 1) % 5] & r[(x + 2) % 5])
        a[0] ^= constant


def keccak(data):
    rate = 136
    padded = bytearray(data) + bytearray(rate - len(data) % rate)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    state = [0] * 25
    for start in range(0, len(padded), rate):
        for lane in range(rate // 8):
            at = start + 8 * lane
            state[lane] ^= int.from_bytes(padded[at:at + 8], 'little')
        _permute(state)
    return b''.join(lane.to_bytes(8, 'little') for lane in state[:4])


# --- words, RLP, trie proofs -----------------------------------------------------------------

def abi(*args):
    """32 bytes stay as they are, a number is one word, a list goes behind the words."""
    words, tail = [], b''
    for arg in args:
        if isinstance(arg, bytes):
            assert len(arg) == 32
            words.append(arg)
        elif isinstance(arg, list):
            words.append((32 * len(args) + len(tail)).to_bytes(32, 'big'))
            tail += b''.join(n.to_bytes(32, 'big') for n in [len(arg), *arg])
        else:
            words.append(arg.to_bytes(32, 'big', signed=arg < 0))
    return b''.join(words) + tail


def rlp_number(n):
    raw = n.to_bytes((n.bit_length() + 7) // 8, 'big')
    return raw if len(raw) == 1 and raw[0] < 0x80 else bytes([0x80 + len(raw)]) + raw


def _rlp_length(data, at, size, end):
    if at + size > end:
        raise Malformed('RLP ends within a length')
    raw = data[at:at + size]
    if raw[0] == 0:
        raise Malformed('an RLP length with a leading zero')
    length = int.from_bytes(raw, 'big')
    if length <= 55:
        raise Malformed('an RLP length written longer than needed')
    return length


def _rlp_item(data, at, end, depth):
    """One item that begins at `at`: its value (bytes or list) and the position behind it."""
    if at >= end:
        raise Malformed('RLP ends too early')
    if depth > 64:
        raise Malformed('RLP lists nested too deeply')
    b = data[at]
    at += 1
    if b < 0x80:
        return data[at - 1:at], at
    is_list = b >= 0xc0
    short = b - (0xc0 if is_list else 0x80)
    if short <= 55:
        length = short
    else:
        length = _rlp_length(data, at, short - 55, end)
        at += short - 55
    stop = at + length
    if stop > end:
        raise Malformed('an RLP item is longer than what holds it')
    if not is_list:
        if length == 1 and data[at] < 0x80:
            raise Malformed('an RLP byte written longer than needed')
        return data[at:stop], stop
    items = []
    while at < stop:
        item, at = _rlp_item(data, at, stop, depth + 1)
        items.append(item)
    return items, stop


def rlp_list(data):
    """The items of a list that is all of `data`."""
    value, stop = _rlp_item(data, 0, len(data), 0)
    if stop != len(data):
        raise Malformed('bytes after the end of the RLP')
    if not isinstance(value, list):
        raise Malformed('an RLP string where a list should be')
    return value


def rlp_string(items, index, what):
    if index >= len(items):
        raise Malformed(f'the list ends before {what}')
    if not isinstance(items[index], bytes):
        raise Malformed(f'{what} is a list')
    return items[index]


def rlp_uint(items, index, what):
    raw = rlp_string(items, index, what)
    if raw[:1] == b'\0':
        raise Malformed(f'{what} has a leading zero')
    return int.from_bytes(raw, 'big')


def nibbles(data):
    return [n for byte in data for n in (byte >> 4, byte & 15)]


def trie_value(root, key, nodes):
    """The value under `key`, by the nodes from the root to its leaf."""
    expected, rest, last = root, nibbles(key), len(nodes) - 1
    for position, node in enumerate(nodes):
        if keccak(node) != expected:
            raise Malformed(f'trie node {position} has another hash than '
                            + ('the root in the block header' if position == 0 else 'its parent says'))
        items = rlp_list(node)
        if len(items) == 17:
            if not rest:
                raise Malformed(f'the key ends at trie node {position}, a branch')
            expected = rlp_string(items, rest.pop(0), f'the next hash in trie node {position}')
        elif len(items) == 2:
            packed = nibbles(rlp_string(items, 0, f'the path in trie node {position}'))
            if not packed or packed[0] > 3 or (packed[0] % 2 == 0 and packed[1] != 0):
                raise Malformed(f'trie node {position} has a path with a wrong flag')
            path = packed[1:] if packed[0] % 2 else packed[2:]
            if packed[0] >= 2:
                if path != rest:
                    raise Malformed('the trie leaf belongs to another key')
                if position != last:
                    raise Malformed('trie nodes follow after the leaf')
                return rlp_string(items, 1, 'the value in the trie leaf')
            if rest[:len(path)] != path:
                raise Malformed(f'trie node {position} leads to another key')
            rest = rest[len(path):]
            expected = rlp_string(items, 1, f'the next hash in trie node {position}')
        else:
            raise Malformed(f'trie node {position} is neither a branch nor has a path')
        if len(expected) != 32:
            raise Malformed(f'trie node {position} does not name a node by hash where the key goes on')
    raise Malformed('the trie proof ends before a leaf')


# --- the file --------------------------------------------------------------------------------

SAFE = 2 ** 53 - 1
SENSOR_ID = re.compile('[^"\\\\\u0000-\u0020\u007f-\u009f\ud800-\udfff]{1,64}')


def wrong(place, should):
    raise Refused('format', f'{place} is not {should}')


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool)


def hexadecimal(digits):
    pattern = re.compile('0x[0-9a-f]{%d}' % digits)

    def check(v, place):
        if not (isinstance(v, str) and pattern.fullmatch(v)):
            wrong(place, f'0x and {digits} lower-case hexadecimal digits')
    return check


def raw_bytes(v, place):
    if not (isinstance(v, str) and re.fullmatch('0x(?:[0-9a-f]{2})+', v)):
        wrong(place, '0x and an even number of lower-case hexadecimal digits, at least two')


def number(low, high, nullable=False):
    def check(v, place):
        if not (nullable and v is None) and not (is_int(v) and low <= v <= high):
            wrong(place, f'a whole number from {low} to {high}' + (' or null' if nullable else ''))
    return check


def array(item, least, most):
    def check(v, place):
        if not (isinstance(v, list) and least <= len(v) <= most):
            wrong(place, f'a list of {least} to {most}')
        for i, entry in enumerate(v):
            item(entry, f'{place}[{i}]')
    return check


def one_of(*texts):
    def check(v, place):
        if not (isinstance(v, str) and v in texts):
            wrong(place, ' or '.join(texts))
    return check


def sensor_id(v, place):
    if not (isinstance(v, str) and SENSOR_ID.fullmatch(v)):
        wrong(place, '1 to 64 code points without quotes, backslashes, spaces, control characters or half surrogates')


def record(fields):
    def check(v, place):
        if not isinstance(v, dict):
            wrong(place, 'an object')
        for name in fields:
            if name not in v:
                raise Refused('format', f'{place} has no field {name}')
        for name in v:
            if name not in fields:
                raise Refused('format', f'{place} has a field that does not belong there')
        if list(v) != list(fields):
            raise Refused('format', f'the fields of {place} are in another order')
        for name, field in fields.items():
            field(v[name], name if place == 'the bundle' else f'{place}.{name}')
    return check


HASH, ADDRESS = hexadecimal(64), hexadecimal(40)
COUNT, VALUE = number(0, SAFE), number(-SAFE, SAFE, nullable=True)

# Versions, a line each. A line never changes, and none is taken out: a file that was handed out stays valid.
# by format: the versions of leaf and header that a bundle holds
BUNDLE_VERSIONS = {'airproof.proof.v1': (1, 1),
                   'airproof.proof.v2': (2, 2)}
# the values of a leaf: of version 1 in the order of its words, of version 2 by their ids; later ids have no name here
LEAF_VERSIONS = {1: ('pm25', 'pm10', 'co2', 'temperature', 'humidity'),
                 2: ('pm25', 'pm10', 'co2', 'temperature', 'humidity', 'pm1', 'pm4', 'pressure',
                     'no2', 'o3', 'co', 'so2', 'voc_index', 'nox_index', 'tvoc', 'noise')}
# in hundredths: what is outside of it no sensor measures, and the network drops. It never changes
HARD_RANGES = {'pm25': (0, 100000), 'pm10': (0, 100000), 'co2': (0, 4000000), 'temperature': (-4000, 8500),
               'humidity': (0, 10000), 'pm1': (0, 100000), 'pm4': (0, 100000), 'pressure': (30000, 110000),
               'no2': (0, 2000000), 'o3': (0, 2000000), 'co': (0, 120000000), 'so2': (0, 6000000),
               'voc_index': (100, 50000), 'nox_index': (100, 50000), 'tvoc': (0, 6000000), 'noise': (0, 14000)}
# the fields of a header, each with its type, in the order of its words; arrays come last
HEADER_VERSIONS = {1: 'uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,'
                      'uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast',
                   2: 'uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,'
                      'uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast'}


def bundle_format(v, place):
    if not (isinstance(v, str) and v in BUNDLE_VERSIONS):
        known = ', '.join(BUNDLE_VERSIONS)
        if isinstance(v, str) and re.fullmatch(r'airproof\.proof\.v[0-9]{1,9}', v):
            raise Refused('format', f'its format is {v}, and this verifier knows {known}: get a newer verifier')
        raise Refused('format', f'its format is not one that this verifier knows ({known})')


def text(pattern, should):
    def check(v, place):
        if not (isinstance(v, str) and re.fullmatch(pattern, v)):
            wrong(place, should)
    return check


def values_by_id(v, place):
    """Pairs of an id and its hundredths. A later quantity has an id that has no name here."""
    array(lambda pair, at: array(COUNT_OR_VALUE, 2, 2)(pair, at), 0, 256)(v, place)
    before = -1
    for i, (quantity, _) in enumerate(v):
        number(0, 65535)(quantity, f'{place}[{i}][0]')
        if quantity <= before:
            wrong(place, 'in the order of the ids, each once')
        before = quantity


def device(v, place):
    if v is None:
        return
    if not isinstance(v, dict):
        wrong(place, 'an object or null')
    algorithm = v.get('algorithm')
    if not (isinstance(algorithm, str) and algorithm in PUBLIC_KEYS):
        wrong(f'{place}.algorithm', ' or '.join(PUBLIC_KEYS))
    record({'algorithm': one_of(algorithm), 'public_key': text(PUBLIC_KEYS[algorithm], 'base64 of a public key'),
            'signature': text('[A-Za-z0-9+/]{85}[AQgw]==', 'base64 of 64 bytes'),
            'text': text('[^\ud800-\udfff]{1,8192}', 'text of 1 to 8192 code points')})(v, place)


COUNT_OR_VALUE = number(-SAFE, SAFE)
# base64 of 32 bytes, and of the 33 of a compressed point
PUBLIC_KEYS = {'ed25519': '[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=', 'p256': '[A-Za-z0-9+/]{44}'}
READING = {'sensor_id': sensor_id, 'time_ms': COUNT, 'seq': COUNT}
# by the version of the leaf
READINGS = {
    1: {**READING, **{name: VALUE for name in LEAF_VERSIONS[1]}, 'aqi': number(0, 65535, nullable=True)},
    2: {**READING, 'area': text('[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]{0,256}',
                                'text of at most 256 code points without control characters'),
        'flags': number(0, 2 ** 32 - 1), 'values': values_by_id, 'aqi': number(0, 65534, nullable=True),
        'device': device},
}
# by the version of the header: how many partitions there may be
PARTITIONS = {1: (1, 8192), 2: (16, 16)}


def batch_fields(header):
    numbers = array(COUNT, *PARTITIONS[header])
    return {
        'index': COUNT, 'prev_head': HASH, 'root': HASH, 'first': COUNT, 'last': COUNT, 'count': COUNT,
        'time_min_ms': COUNT, 'time_max_ms': COUNT, 'sealed_ms': COUNT, 'beacon': HASH,
        'n_first': numbers, 'n_last': numbers,
    }


ANCHOR = {
    'chain_id': COUNT, 'contract': ADDRESS, 'head': HASH, 'tx_hash': HASH, 'tx_index': COUNT,
    'block_hash': HASH, 'block_number': COUNT, 'block_time_s': COUNT,
}
LEVEL = one_of('proof', 'rpc')
PROOF = {
    'block_header': raw_bytes,
    'transaction_proof': array(raw_bytes, 1, 16), 'receipt_proof': array(raw_bytes, 1, 16),
}


def bundle_fields(leaf, header, level):
    return {
        'format': bundle_format, 'level': LEVEL, 'reading_hash': HASH, 'reading': record(READINGS[leaf]),
        'path': array(HASH, 0, 64), 'batch': record(batch_fields(header)), 'anchor': record(ANCHOR),
        **(PROOF if level == 'proof' else {}),
    }


def read_bundle(data):
    """Check 1: the bundle in these bytes."""
    try:
        text = data.decode('utf-8')
        bundle = json.loads(text)
        again = (json.dumps(bundle, separators=(',', ':'), ensure_ascii=False) + '\n').encode('utf-8')
    except (ValueError, RecursionError):
        raise Refused('format', 'the file is not JSON in UTF-8') from None
    if not isinstance(bundle, dict):
        wrong('the bundle', 'an object')
    for name, check in (('format', bundle_format), ('level', LEVEL)):
        if name not in bundle:
            raise Refused('format', f'the bundle has no field {name}')
        check(bundle[name], name)
    record(bundle_fields(*BUNDLE_VERSIONS[bundle['format']], bundle['level']))(bundle, 'the bundle')
    if len(bundle['batch']['n_first']) != len(bundle['batch']['n_last']):
        raise Refused('format', 'batch.n_first and batch.n_last have different lengths')
    if again != data:
        raise Refused('format', 'the text is not canonical: written again it gives other bytes')
    return bundle


# --- the network -----------------------------------------------------------------------------

NETWORK_FORMAT = 'airproof.network.v1'


class NotANetwork(Exception):
    """Why a network file pins nothing."""


def is_count(v):
    return type(v) is int and 0 <= v <= SAFE


def is_hex(digits):
    return lambda v: isinstance(v, str) and re.fullmatch(f'0x[0-9a-f]{{{digits}}}', v) is not None


def is_list_of(check, least, most):
    return lambda v: isinstance(v, list) and least <= len(v) <= most and all(check(item) for item in v)


def is_object(v):
    return isinstance(v, dict)


def is_line(v):
    """Text that can be shown on a terminal, which obeys control characters."""
    return (isinstance(v, str) and 1 <= len(v) <= 200
            and all(category(c) not in ('Cc', 'Cf', 'Cs', 'Zl', 'Zp') for c in v))


# what a verifier needs of a network file; it may hold more
NETWORK = {'name': is_line, 'chain': is_object,
           'contracts': is_list_of(is_object, 1, 1000)}
CHAIN = {'id': is_count, 'demonstration': lambda v: isinstance(v, bool)}
CONTRACT = {'address': is_hex(40), 'version': is_count, 'block': is_count, 'code_hash': is_hex(64),
            'owner_at': is_list_of(is_count, 0, 100)}
LAST_BATCH = 'last_batch'  # may be null, or not be there: the contract is in use


def is_end(v):
    return (is_object(v) and is_hex(64)(v.get('head'))
            and is_list_of(is_count, 16, 16)(v.get('numbers')))


# where a contract begins and ends, with the last number of each partition: in every contract of a file, or in none
RANGE = {'begins': lambda v: is_end(v) and is_count(v.get('after_batch')),
         'ends': lambda v: v is None or is_end(v) and is_count(v.get('block')) and is_count(v.get('tx_index'))}


def read_network(data):
    """The network that the user means, from the bytes of its file. Raises NotANetwork."""
    try:
        network = json.loads(data.decode('utf-8'))
    except (ValueError, RecursionError):
        raise NotANetwork('the network file is not JSON in UTF-8') from None
    form = network.get('format') if isinstance(network, dict) else None
    if form != NETWORK_FORMAT:
        if isinstance(form, str) and re.fullmatch(r'airproof\.network\.v[0-9]{1,9}', form):
            raise NotANetwork(f'the format of the network file is {form}, and this verifier knows '
                              f'{NETWORK_FORMAT}: get a newer verifier')
        raise NotANetwork(f'this is not a network file: its format is not {NETWORK_FORMAT}')
    if 'chain' in network and network['chain'] is None:
        raise NotANetwork('this network has anchored nothing yet: there is nothing to pin')

    def need(place, value, expected):
        for field, check in expected.items():
            if field not in value or not check(value[field]):
                raise NotANetwork(f'the network file has no {place}{field}, or not one of the right kind')

    need('', network, NETWORK)
    need('chain.', network['chain'], CHAIN)
    for contract in network['contracts']:
        need('contracts.', contract, CONTRACT)
        if contract.get(LAST_BATCH) is not None:
            need('contracts.', contract, {LAST_BATCH: is_count})
    if any(field in contract for contract in network['contracts'] for field in RANGE):
        for contract in network['contracts']:
            need('contracts.', contract, RANGE)
        if not are_one_story(network['contracts']):
            raise NotANetwork('in the network file a contract does not go on where the one before it ends: '
                              'two of them could hold the same number')
    return network


def are_one_story(contracts):
    """Each contract in which batches count begins where the one before it ends, the first one at zero."""
    end = 0, [0] * 16
    for contract in contracts:
        begins, ends, last = contract['begins'], contract['ends'], contract.get(LAST_BATCH)
        if last is not None and last <= begins['after_batch']:
            continue
        if (begins['after_batch'], begins['numbers']) != end or (last is None) != (ends is None):
            return False
        end = last, ends and ends['numbers']
    return True


def range_fault(contract, anchor, batch):
    """Why another contract of the network holds the batch, or none does."""
    begins, ends, index = contract['begins'], contract['ends'], batch['index']
    after = begins['after_batch']
    if index <= after:
        return f'it is of batch {index}, and its contract counts after batch {after} only'
    if index == after + 1 and batch['prev_head'] != begins['head']:
        return 'it is of the first batch of its contract, which began with another head'
    if len(batch['n_first']) != 16:
        return f'its batch has {len(batch["n_first"])} partitions, and the network 16'
    for p, (first, last) in enumerate(zip(batch['n_first'], batch['n_last'])):
        before, end = begins['numbers'][p], ends['numbers'][p] if ends else None
        if first <= before or end is not None and last > end:
            return (f'its batch has numbers {first} to {last} of partition {p}, and its contract counts those after '
                    f'{before}{"" if end is None else f" up to {end}"} only')
    if ends is None:
        return None
    block, place = anchor['block_number'], anchor['tx_index']
    if (block, place) > (ends['block'], ends['tx_index']):
        return (f'it is in transaction {place} of block {block}, and its contract counts up to transaction '
                f'{ends["tx_index"]} of block {ends["block"]} only')
    if index == contract[LAST_BATCH] and anchor['head'] != ends['head']:
        return 'it is of the last batch of its contract, which left another head'
    return None


def check_network(network, bundle, header_version):
    anchor, index = bundle['anchor'], bundle['batch']['index']
    name, chain_id = network['name'], network['chain']['id']
    if anchor['chain_id'] != chain_id:
        raise Refused('pins', f'it is on chain {anchor["chain_id"]}, and the network {name} is on chain {chain_id}')
    found = [contract for contract in network['contracts'] if contract['address'] == anchor['contract']]
    if not found:
        raise Refused('pins', f'it is of contract {anchor["contract"]}, which is not one of the network {name}')
    version, block = found[0]['version'], found[0]['block']
    if version != header_version:
        raise Refused('pins', f'its contract is of version {version}, and its batch of version {header_version}')
    if anchor['block_number'] < block:
        raise Refused('pins', f'it is in block {anchor["block_number"]}, and its contract began in block {block}')
    last = found[0].get(LAST_BATCH)
    if last is not None and index > last:
        raise Refused('pins', f'it is of batch {index}, and its contract counts up to batch {last} only')
    fault = range_fault(found[0], anchor, bundle['batch']) if 'begins' in found[0] else None
    if fault:
        raise Refused('pins', fault)


# --- what a sensor signed --------------------------------------------------------------------

ALGORITHMS = {'ed25519': 1, 'p256': 2}
SIGNED_LINE = re.compile(r'([A-Za-z0-9_]{1,32})=(?=.{1,32}\Z)(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)')


def device_bytes(signed):
    return (bytes([ALGORITHMS[signed['algorithm']]])
            + base64.b64decode(signed['public_key']) + base64.b64decode(signed['signature']))


def hundredths(number_text):
    """A number as the sensor wrote it: rounded half away from zero on the shortest text of its double."""
    value = float(number_text)
    if abs(value) >= 1e12:
        return 10 ** 14 if value > 0 else -10 ** 14
    return int((Decimal(repr(value)) * 100).to_integral_value(ROUND_HALF_UP))


def is_dropped(flags, quantity):
    """Whether the sensor sent a value that no such sensor can measure."""
    return flags >> (quantity if quantity < 5 else quantity + 7) & 1 == 1


def check_signed_text(reading):
    title, *rest = reading['device']['text'].split('\n')
    if title != 'airproof.device.v1':
        return 'it is not a text that sensors sign'
    if rest[:1] != [reading['sensor_id']]:
        return 'it is of another sensor'
    if rest[1:2] != [str(reading['time_ms'])]:
        return 'it is of another time'
    signed, before = {}, ''
    for line in rest[2:]:
        found = SIGNED_LINE.fullmatch(line)
        if found is None:
            return 'it has a line that is not a value'
        name, value = found.groups()
        if name <= before:
            return 'its values are not sorted by name'
        before, signed[name] = name, hundredths(value)
    if not 1 <= len(signed) <= 64:
        return 'it has not 1 to 64 values'
    held = dict(reading['values'])
    for quantity, name in enumerate(LEAF_VERSIONS[2]):
        value, said = held.get(quantity), signed.get(name)
        if value == said:
            continue
        low, high = HARD_RANGES[name]
        # the flag alone is the operator's word
        is_outside = said is not None and not low <= said <= high
        if value is not None or not is_outside or not is_dropped(reading['flags'], quantity):
            return f'its {name} is not that of the reading'
    return None


# RFC 8032, and FIPS 186-5 with P-256: slow, and good enough for one signature

Q = 2 ** 255 - 19
ED_ORDER = 2 ** 252 + 27742317777372353535851937790883648493
ED_D = -121665 * pow(121666, -1, Q) % Q
EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022


def ed_add(one, other):
    (x1, y1), (x2, y2) = one, other
    product = ED_D * x1 * x2 * y1 * y2
    return ((x1 * y2 + x2 * y1) * pow(1 + product, -1, Q) % Q, (y1 * y2 + x1 * x2) * pow(1 - product, -1, Q) % Q)


def times(point, factor, add, result):
    while factor > 0:
        if factor & 1:
            result = add(result, point)
        point, factor = add(point, point), factor >> 1
    return result


def ed_point(raw):
    """The point of these 32 bytes, or None."""
    y, sign = int.from_bytes(raw, 'little') & (1 << 255) - 1, raw[31] >> 7
    square = (y * y - 1) * pow(ED_D * y * y + 1, -1, Q) % Q
    x = pow(square, (Q + 3) // 8, Q)
    if x * x % Q != square:
        x = x * pow(2, (Q - 1) // 4, Q) % Q
    if y >= Q or x * x % Q != square or (x == 0 and sign == 1):
        return None
    return (x if x & 1 == sign else Q - x, y)


def ed25519_fault(key, signature, data):
    point = ed_point(key)
    # with a key of small order one signature fits many texts
    if point is None or point[1] in (0, 1, Q - 1, EIGHTH, Q - EIGHTH):
        return 'anyone can sign with its key'
    s = int.from_bytes(signature[32:], 'little')
    base = ed_point((4 * pow(5, -1, Q) % Q).to_bytes(32, 'little'))
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + data).digest(), 'little') % ED_ORDER
    x, y = point
    x, y = ed_add(times(base, s, ed_add, (0, 1)), times((Q - x, y), challenge, ed_add, (0, 1)))
    if s >= ED_ORDER or (y | (x & 1) << 255).to_bytes(32, 'little') != signature[:32]:
        return 'the key did not sign this text'
    return None


P = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1
P_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
P_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b
P_BASE = (0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
          0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)


def p_add(one, other):
    """Affine; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = ((3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)) % P
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def p256_fault(key, signature, data):
    r, s = int.from_bytes(signature[:32], 'big'), int.from_bytes(signature[32:], 'big')
    if not (0 < r < P_ORDER and 0 < s < P_ORDER):
        return 'its r or s cannot be'
    if s > P_ORDER // 2:
        return 'its s is the high one of the two that sign the same'
    x = int.from_bytes(key[1:], 'big')
    square = (x ** 3 - 3 * x + P_B) % P
    y = pow(square, (P + 1) // 4, P)
    if key[0] not in (2, 3) or x >= P or y * y % P != square:
        return 'its key is not a point of the curve'
    point = (x, y if y & 1 == key[0] & 1 else P - y)
    inverse = pow(s, -1, P_ORDER)
    digest = int.from_bytes(hashlib.sha256(data).digest(), 'big')
    found = p_add(times(P_BASE, digest * inverse % P_ORDER, p_add, None),
                  times(point, r * inverse % P_ORDER, p_add, None))
    return None if found is not None and found[0] % P_ORDER == r else 'the key did not sign this text'


def signature_fault(signed):
    check = ed25519_fault if signed['algorithm'] == 'ed25519' else p256_fault
    return check(base64.b64decode(signed['public_key']), base64.b64decode(signed['signature']),
                 signed['text'].encode('utf-8'))


# --- the checks ------------------------------------------------------------------------------

# of a contract, by its version
SELECTORS = {1: bytes.fromhex('f1da9da0'), 2: bytes.fromhex('90badc15')}
EVENTS = {1: bytes.fromhex('9c50ab2552db77059382134f25155c02c9b69947e9563d788f06d57216ad5a03'),
          2: bytes.fromhex('905dd6517982daa83341b664670b2bdfea90d6402bd71c62a7cea7940abaa693')}
# transaction type: where the list has the chain id, the address called and the data
LAYOUT = {None: (6, 3, 5), 1: (0, 4, 6), 2: (0, 5, 7), 3: (0, 5, 7), 4: (0, 5, 7), 0x7e: (None, 2, 7)}


def unhex(text):
    return bytes.fromhex(text[2:])


def leaf_of(reading, version):
    return keccak(keccak((leaf_words_1 if version == 1 else leaf_words_2)(reading)))


def leaf_words_1(reading):
    names = LEAF_VERSIONS[1]
    kind = ('airproof.reading.v1(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,'
            + ''.join(f'int64 {name},' for name in names) + 'uint16 aqi,bytes32 deviceSig)')
    values = [reading[name] for name in (*names, 'aqi')]
    present = sum(1 << bit for bit, value in enumerate(values) if value is not None)
    return abi(keccak(kind.encode()), keccak(reading['sensor_id'].encode('utf-8')), reading['time_ms'], reading['seq'],
               present, *(0 if value is None else value for value in values), 0)


def leaf_words_2(reading):
    kind = ('airproof.reading.v2(bytes32 sensor,uint64 timeMs,uint64 seq,bytes32 area,uint32 flags,'
            'bytes32 values,uint16 aqi,bytes32 device)')
    values = b''.join(quantity.to_bytes(2, 'big') + value.to_bytes(8, 'big', signed=True)
                      for quantity, value in reading['values'])
    return abi(keccak(kind.encode()), keccak(reading['sensor_id'].encode('utf-8')), reading['time_ms'], reading['seq'],
               keccak(reading['area'].encode('utf-8')), reading['flags'], keccak(values),
               65535 if reading['aqi'] is None else reading['aqi'],
               0 if reading['device'] is None else keccak(device_bytes(reading['device'])))


def fold(leaf, path):
    node = leaf
    for sibling in path:
        node = keccak(min(node, sibling) + max(node, sibling))
    return node


def fold_placed(leaf, path, seq, batch):
    """A number has one place among the leaves, from which the sides and the length of its path follow."""
    p, n = divmod(seq, 2 ** 40)
    at = n - batch['n_first'][p] + sum(batch['n_last'][q] - batch['n_first'][q] + 1 for q in range(p))
    size, is_right = batch['count'], []
    while size > 1:
        if at % 2 == 1 or at + 1 < size:
            is_right.append(at % 2 == 1)
        at, size = at // 2, (size + 1) // 2
    if len(path) != len(is_right):
        raise Refused('path', f'the path has {len(path)} siblings, and that place of the tree has {len(is_right)}')
    node = leaf
    for sibling, right in zip(path, is_right):
        node = keccak(b'\x01' + (sibling + node if right else node + sibling))
    return node


def header_hash_of(batch, version):
    fields = HEADER_VERSIONS[version]
    words = []
    for field in fields.split(','):
        kind, name = field.split(' ')
        # prevHead is prev_head in a bundle
        value = batch[re.sub('[A-Z]', lambda letter: '_' + letter.group().lower(), name)]
        words.append(unhex(value) if kind == 'bytes32' else value)
    return keccak(abi(keccak(f'airproof.batch.v{version}({fields})'.encode()), *words))


def check_batch(reading, batch, version):
    p, n = divmod(reading['seq'], 2 ** 40)
    n_first, n_last = batch['n_first'], batch['n_last']
    if p >= len(n_first):
        return f'the reading is of partition {p}, and the batch has {len(n_first)}'
    if not n_first[p] <= n <= n_last[p]:
        return f'reading {n} of partition {p} is not among {n_first[p]} to {n_last[p]} of the batch'
    if not batch['time_min_ms'] <= reading['time_ms'] <= batch['time_max_ms']:
        return 'the time of the reading is outside the times of the batch'
    if min(n_first) < 1:
        return 'n_first holds a number below 1'
    if any(last < first - 1 for first, last in zip(n_first, n_last)):
        return 'n_last holds a number below n_first - 1'
    if sum(n_last) - sum(n_first) + len(n_first) != batch['count']:
        return 'n_first and n_last do not add up to count'
    if batch['index'] < 1:
        return 'index is below 1'
    if not 1 <= batch['first'] <= batch['last']:
        return 'first and last are not a range'
    if unhex(batch['root']) == bytes(32):
        return 'the root is zero'
    if version == 2 and max(n_last) >= 2 ** 40:
        return 'n_last holds a number that the contract cannot hold'
    return None


def packed(numbers):
    """Sixteen numbers of 40 bits in three words, six to a word, the first in the lowest bits."""
    return [sum(n << 40 * i for i, n in enumerate(numbers[at:at + 6])) for at in (0, 6, 12)]


def on_chain(batch, version):
    """The head that the batch makes, whether data of a transaction anchor it, and the data of its event."""
    index, first, last, count = batch['index'], batch['first'], batch['last'], batch['count']
    prev_head, root, header_hash = unhex(batch['prev_head']), unhex(batch['root']), header_hash_of(batch, version)
    event = abi(prev_head, header_hash, first, last, count)
    if version == 1:
        arguments = abi(prev_head, index, root, header_hash, first, last, count)
        return keccak(arguments), lambda data: data == SELECTORS[1] + arguments, event
    before, now = packed([n - 1 for n in batch['n_first']]), packed(batch['n_last'])

    def is_call(data):
        # the record of the batch before has 8 words: its index is word 1, and its last numbers are the last four
        selector, record, rest = data[:4], data[4:260], data[260:]
        return (selector == SELECTORS[2] and keccak(record) == prev_head and record[32:64] == abi(index - 1)
                and record[128:] == abi(first - 1, *before) and rest == abi(root, header_hash, last, *now))

    return keccak(abi(prev_head, index, root, header_hash, last, *now)), is_call, event + abi(*before, *now)


def split_type(data):
    """Type and list of a transaction or receipt; None is the old kind, which has no type byte."""
    if not data:
        raise Malformed('it is empty')
    if data[0] >= 0xc0:
        return None, rlp_list(data)
    return data[0], rlp_list(data[1:])


def check_transaction(raw, anchor, is_call):
    if keccak(raw) != unhex(anchor['tx_hash']):
        raise Malformed('the transaction in the block has another hash than tx_hash')
    kind, items = split_type(raw)
    if kind not in LAYOUT:
        raise Malformed(f'transactions of type {kind} are not known')
    at_chain, at_to, at_data = LAYOUT[kind]
    if at_chain is not None:
        chain = rlp_uint(items, at_chain, 'the chain id')
        if kind is None:
            if chain < 35:
                raise Malformed('the transaction names no chain')
            chain = (chain - 35) // 2
        if chain != anchor['chain_id']:
            raise Malformed(f'the transaction is for chain {chain}, not {anchor["chain_id"]}')
    if rlp_string(items, at_to, 'the address called') != unhex(anchor['contract']):
        raise Malformed('the transaction calls another address than the contract')
    if not is_call(rlp_string(items, at_data, 'the data')):
        raise Malformed('the data of the transaction do not anchor this batch')
    return kind


def check_receipt(raw, kind, contract, topics, data):
    receipt_kind, items = split_type(raw)
    if receipt_kind != kind:
        raise Malformed('the receipt has another type than the transaction')
    if rlp_string(items, 0, 'the status') != b'\x01':
        raise Malformed('the transaction failed')
    if len(items) < 4 or not isinstance(items[3], list):
        raise Malformed('the receipt has no list of logs')
    if [contract, topics, data] not in items[3]:
        raise Malformed('no log of the contract is about this batch')


def verify(data, chain_id=None, contract=None, block_hash=None, passed=lambda check, words: None, network=None):
    """Returns the bundle, or raises Refused. Calls `passed` for every check that holds."""
    bundle = read_bundle(data)
    reading, batch, anchor = bundle['reading'], bundle['batch'], bundle['anchor']
    passed('format', f'{bundle["format"]}, level {bundle["level"]}')

    if chain_id is not None and anchor['chain_id'] != chain_id:
        raise Refused('pins', f'the bundle is anchored on chain {anchor["chain_id"]}, not {chain_id}')
    if contract is not None and anchor['contract'] != contract:
        raise Refused('pins', f'the bundle is anchored in contract {anchor["contract"]}, not {contract}')
    leaf_version, header_version = BUNDLE_VERSIONS[bundle['format']]
    named = [name for name, pin in (('chain', chain_id), ('contract', contract)) if pin is not None]
    if network is not None:
        check_network(network, bundle, header_version)
        named = [f'network {network["name"]}']
    if named:
        passed('pins', f'it is of the {" and ".join(named)} you named')

    leaf = leaf_of(reading, leaf_version)
    if leaf != unhex(bundle['reading_hash']):
        raise Refused('leaf', f'the reading has the hash 0x{leaf.hex()}, and reading_hash is another')
    passed('leaf', '0x' + leaf.hex())

    if reading.get('device') is not None:
        for check, fault in (('signed text', check_signed_text(reading)),
                             ('signature', signature_fault(reading['device']))):
            if fault:
                raise Refused(check, fault)
            passed(check, f'by the {reading["device"]["algorithm"]} key {reading["device"]["public_key"]}')

    siblings = [unhex(sibling) for sibling in bundle['path']]

    def check_path(lead):
        if lead != unhex(batch['root']):
            raise Refused('path', 'the path does not lead from the reading to the root')
        passed('path', f'{len(siblings)} siblings up to the root {batch["root"]}')

    # in version 2 the batch's numbers say where in the tree the reading is
    if header_version == 1:
        check_path(fold(leaf, siblings))
    reason = check_batch(reading, batch, header_version)
    if reason:
        raise Refused('batch', reason)
    passed('batch', f'batch {batch["index"]}, whose {batch["count"]} numbers have that of this reading among them')
    if header_version == 2:
        check_path(fold_placed(leaf, siblings, reading['seq'], batch))

    head = unhex(anchor['head'])
    made, is_call, event = on_chain(batch, header_version)
    if made != head:
        raise Refused('head', 'the batch does not give the head')
    passed('head', anchor['head'])

    if bundle['level'] == 'proof':
        check = 'block'
        try:
            raw = unhex(bundle['block_header'])
            if keccak(raw) != unhex(anchor['block_hash']):
                raise Malformed('the header has another hash than block_hash')
            header = rlp_list(raw)
            if len(header) < 15:
                raise Malformed('the header has fewer than 15 items')
            roots = [rlp_string(header, at, 'the root of a trie') for at in (4, 5)]
            if rlp_uint(header, 8, 'the number') != anchor['block_number']:
                raise Malformed('the header has another number than block_number')
            if rlp_uint(header, 11, 'the time') != anchor['block_time_s']:
                raise Malformed('the header has another time than block_time_s')
            passed(check, f'{anchor["block_number"]} of {utc(anchor["block_time_s"])}')

            check, key = 'transaction', rlp_number(anchor['tx_index'])
            raw = trie_value(roots[0], key, [unhex(node) for node in bundle['transaction_proof']])
            kind = check_transaction(raw, anchor, is_call)
            passed(check, f'{anchor["tx_hash"]}, number {anchor["tx_index"]} of the block')

            check = 'receipt'
            raw = trie_value(roots[1], key, [unhex(node) for node in bundle['receipt_proof']])
            topics = [EVENTS[header_version], abi(batch['index']), unhex(batch['root']), head]
            check_receipt(raw, kind, unhex(anchor['contract']), topics, event)
            passed(check, 'the contract accepted the batch and logged it')
        except Malformed as e:
            raise Refused(check, str(e)) from None

    if block_hash is not None:
        if anchor['block_hash'] != block_hash:
            raise Refused('trusted block', f'the bundle is anchored in block {anchor["block_hash"]}, not {block_hash}')
        passed('trusted block', 'the block is the one you named')

    if bundle['level'] == 'rpc':
        raise Refused('node', 'a bundle of level rpc proves nothing without asking a node, and this program asks none')
    return bundle


# --- the command -----------------------------------------------------------------------------

# the chain that anvil runs on the operator's own machine
DEMONSTRATION_CHAIN = 31337

UNITS = {'pm25': ' µg/m³', 'pm10': ' µg/m³', 'co2': ' ppm', 'temperature': ' °C', 'humidity': ' %',
         **{name: ' µg/m³' for name in ('pm1', 'pm4', 'no2', 'o3', 'co', 'so2')}, 'pressure': ' hPa',
         'tvoc': ' ppb', 'noise': ' dB(A)', 'voc_index': '', 'nox_index': ''}


def utc(seconds):
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC')
    except (ValueError, OverflowError, OSError):
        return f'{seconds} s after 1970'


def measured(name, value):
    if value is None:
        return 'not reported'
    if name == 'aqi':
        return str(value)
    whole, rest = divmod(abs(value), 100)
    return f'{"-" if value < 0 else ""}{whole}.{rest:02d}{UNITS.get(name, "")}'


def values_of(reading, leaf):
    """Each value with its name. A later quantity has none here."""
    names = LEAF_VERSIONS[leaf]
    if leaf == 1:
        return [(name, reading[name]) for name in names]
    return [(names[i] if i < len(names) else f'quantity {i}', value) for i, value in reading['values']]


def is_demonstration(bundle, network):
    """The chain that anvil runs, or one of which its operator says so."""
    return (bundle['anchor']['chain_id'] == DEMONSTRATION_CHAIN
            or network is not None and network['chain']['demonstration'])


def in_words(bundle, chain_id, contract, block_hash, network):
    """What is proven, and what is left to trust."""
    reading, batch, anchor = bundle['reading'], bundle['batch'], bundle['anchor']
    yield f'sensor {reading["sensor_id"]}, measured {utc(reading["time_ms"] // 1000)}'
    leaf_version, header_version = BUNDLE_VERSIONS[bundle['format']]
    if leaf_version == 2:
        yield f'  area {reading["area"]}'
        yield f'  flags {reading["flags"]}'
    for name, value in (*values_of(reading, leaf_version), ('aqi', reading['aqi'])):
        yield f'  {name} {measured(name, value)}'
    yield (f'proven: it existed so when block {anchor["block_number"]} was made, '
           f'{utc(anchor["block_time_s"])}')
    begins = None
    if network is not None:
        begins = next(c for c in network['contracts'] if c['address'] == anchor['contract']).get('begins')
    if header_version == 2:
        p, n = divmod(reading['seq'], 2 ** 40)
        other = f'; and no other contract of the network {network["name"]} counts for that number' if begins else ''
        yield (f'proven: this is reading number {n:,} of partition {p}; in contract {anchor["contract"]}, from its '
               'beginning on, no other reading bears that number, and every number from there up to it has its place '
               f'in batch {batch["index"]} or an earlier one: it takes no other batch{other}')
    signed = reading.get('device')
    if signed is not None:
        yield f'proven: it was made by the holder of the {signed["algorithm"]} key {signed["public_key"]}'
    if block_hash is None:
        yield (f'on trust: {anchor["block_hash"]} is a block of chain {anchor["chain_id"]}; '
               'compare it')
    if is_demonstration(bundle, network):
        yield (f'on trust: the time of the block: chain {anchor["chain_id"]} is a demonstration chain, which shows '
               'how it works; it proves nothing about time, because the operator runs this chain')
    missing = [name for name, pin in (('chain', chain_id), ('contract', contract))
               if pin is None and network is None]
    if network is not None:
        yield ('not asked: whether the code of the contract is that of the network file: only a node knows it, '
               'and this program asks none')
    if network is not None and begins is None:
        yield ('not asked: whether it is within what its contract holds: the network file does not say where each '
               'contract begins and ends, get a newer one')
        yield (f'on trust: no other contract of the network {network["name"]} holds a reading of the same number, and '
               'no thief anchored it after its contract was given up: the network file does not say where each '
               'contract begins and ends')
    if missing:
        yield ('not asked: whether it is of the network that you mean: '
               f'you named no {" and no ".join(missing)}')
    if missing:
        yield (f'on trust: {anchor["contract"]} on chain {anchor["chain_id"]} '
               'is the network\'s contract')
    yield 'on trust: the sensor measured what it sent'
    yield 'on trust: the index (aqi) is that of these values: the operator computes it, and it is not checked here'
    if header_version == 1:
        yield (f'on trust: no other reading has the same number, and batch {batch["index"]} holds as many '
               f'as it counts ({batch["count"]}); `airproof audit` checks them all')
    else:
        yield (f'on trust: contract {anchor["contract"]} has the code of version 2, which takes no number twice '
               'and leaves none out')
        # the first batch of a contract that began at zero has nothing before it
        if begins and (batch['index'] != 1 or set(batch['n_first']) != {1}):
            yield (f'on trust: contract {anchor["contract"]} began where the network file says, after batch '
                   f'{begins["after_batch"]}, so that nothing is left out before: `airproof audit` asks the chain')
        elif batch['index'] != 1 or set(batch['n_first']) != {1}:
            yield (f'on trust: what is before the beginning of contract {anchor["contract"]}, unless it began at zero: '
                   'no other reading bears that number there, and none is left out')
        yield ('on trust: the sensor has no second reading of the same time under another number; '
               '`airproof audit` checks that')
        if signed is None:
            yield 'on trust: the sensor sent it: it is not signed, so the operator could have made it up'
        else:
            yield (f'on trust: the {signed["algorithm"]} key {signed["public_key"]} is that of sensor '
                   f'{reading["sensor_id"]}: compare it with the keys that /v1/network/keys/{reading["sensor_id"]} of the '
                   'network\'s API lists, as you kept them')
            if any(quantity >= len(LEAF_VERSIONS[2]) for quantity, _ in reading['values']):
                yield 'on trust: the values without a name are those that were signed: get a newer verifier'
            names = [line.split('=')[0] for line in signed['text'].split('\n')[3:]]
            strange = [name for name in names if name not in HARD_RANGES]
            if strange:
                yield (f'on trust: nothing which was signed as {", ".join(strange)} was left out: '
                       'this verifier does not know such a value')
    yield (f'on trust: the batch was closed at {utc(batch["sealed_ms"] // 1000)}, '
           'by the operator\'s clock')
    if unhex(batch['beacon']) != bytes(32):
        yield f'  and not before block {batch["beacon"]}: find it on the chain'


def text_like(pattern, what):
    """An option's value; argparse ends with 2 where it is not one."""

    def parse(text):
        if not re.fullmatch(pattern, text.lower()):
            raise argparse.ArgumentTypeError(f'{text} is not {what}')
        return text.lower()

    return parse


def number_option(text):
    return int(text_like('[0-9]{1,16}', 'a number')(text))


def main():
    parser = argparse.ArgumentParser(
        description='Checks airproof proof bundles, offline.', allow_abbrev=False)
    parser.add_argument('--network', metavar='FILE')
    parser.add_argument('--block-hash', metavar='0x...', type=text_like(
        '0x[0-9a-f]{64}', 'the hash of a block: 0x and 64 hexadecimal digits'))
    parser.add_argument('--chain-id', metavar='N', type=number_option)
    parser.add_argument('--contract', metavar='0x...', type=text_like(
        '0x[0-9a-f]{40}', 'an address: 0x and 40 hexadecimal digits'))
    parser.add_argument('files', nargs='+', metavar='FILE')
    args = parser.parse_args()
    network = None
    if args.network is not None:
        try:
            with open(args.network, 'rb') as file:
                network = read_network(file.read())
        except OSError as error:
            print(f'{args.network}: {error.strerror}', file=sys.stderr)
            return 2
        except NotANetwork as error:
            print(f'{args.network}: {error}', file=sys.stderr)
            return 2
    named = (args.chain_id, args.contract, args.block_hash)
    code = 0
    for name in args.files:
        checks = []
        try:
            with open(name, 'rb') as file:
                data = file.read()
            bundle = verify(data, *named, lambda check, words: checks.append(f'{check}: {words}'), network)
        except OSError as error:
            print(f'{name}: {error.strerror}', file=sys.stderr)
            return 2
        except Refused as refused:
            print(f'{name}: refused, {refused}')
            code = 1
            continue
        print(f'{name}: proven{", on a demonstration chain" if is_demonstration(bundle, network) else ""}')
        for line in [*(f'ok {check}' for check in checks), *in_words(bundle, *named, network)]:
            print(f'  {line}')
    return code


if __name__ == '__main__':
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding='utf-8', errors='replace')
    sys.exit(main())
