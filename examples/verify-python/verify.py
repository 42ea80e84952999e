#!/usr/bin/env python3
"""Checks airproof proof bundles, offline, with Python's standard library alone.

    python3 verify.py [--network FILE] [--block-hash 0x...] [--chain-id N] [--contract 0x...] FILE...

Written from docs/proofs.md; the names of the checks are those of that page. Exit code 0: every
bundle is proven. 1: one was refused, and the reason is printed. 2: not used properly.
"""

import argparse
import json
import re
import sys
from datetime import datetime, timezone
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
BUNDLE_VERSIONS = {'airproof.proof.v1': (1, 1)}
# the values that a leaf holds, in the order of its words
LEAF_VERSIONS = {1: ('pm25', 'pm10', 'co2', 'temperature', 'humidity')}
# the fields of a header, each with its type, in the order of its words; arrays come last
HEADER_VERSIONS = {1: 'uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,'
                      'uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast'}


def bundle_format(v, place):
    if not (isinstance(v, str) and v in BUNDLE_VERSIONS):
        known = ', '.join(BUNDLE_VERSIONS)
        if isinstance(v, str) and re.fullmatch(r'airproof\.proof\.v[0-9]{1,9}', v):
            raise Refused('format', f'its format is {v}, and this verifier knows {known}: get a newer verifier')
        raise Refused('format', f'its format is not one that this verifier knows ({known})')


def reading_fields(leaf):
    return {'sensor_id': sensor_id, 'time_ms': COUNT, 'seq': COUNT, **{name: VALUE for name in LEAF_VERSIONS[leaf]},
            'aqi': number(0, 65535, nullable=True)}


BATCH = {
    'index': COUNT, 'prev_head': HASH, 'root': HASH, 'first': COUNT, 'last': COUNT, 'count': COUNT,
    'time_min_ms': COUNT, 'time_max_ms': COUNT, 'sealed_ms': COUNT, 'beacon': HASH,
    'n_first': array(COUNT, 1, 8192), 'n_last': array(COUNT, 1, 8192),
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


def bundle_fields(leaf, level):
    return {
        'format': bundle_format, 'level': LEVEL, 'reading_hash': HASH, 'reading': record(reading_fields(leaf)),
        'path': array(HASH, 0, 64), 'batch': record(BATCH), 'anchor': record(ANCHOR),
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
    leaf, _ = BUNDLE_VERSIONS[bundle['format']]
    record(bundle_fields(leaf, bundle['level']))(bundle, 'the bundle')
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
    return network


def check_network(network, anchor, header_version):
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


# --- the checks ------------------------------------------------------------------------------

SELECTOR = bytes.fromhex('f1da9da0')
EVENT = bytes.fromhex('9c50ab2552db77059382134f25155c02c9b69947e9563d788f06d57216ad5a03')
# transaction type: where the list has the chain id, the address called and the data
LAYOUT = {None: (6, 3, 5), 1: (0, 4, 6), 2: (0, 5, 7), 3: (0, 5, 7), 4: (0, 5, 7), 0x7e: (None, 2, 7)}


def unhex(text):
    return bytes.fromhex(text[2:])


def leaf_of(reading, version):
    names = LEAF_VERSIONS[version]
    kind = (f'airproof.reading.v{version}(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,'
            + ''.join(f'int64 {name},' for name in names) + 'uint16 aqi,bytes32 deviceSig)')
    values = [reading[name] for name in (*names, 'aqi')]
    present = sum(1 << bit for bit, value in enumerate(values) if value is not None)
    return keccak(keccak(abi(
        keccak(kind.encode()), keccak(reading['sensor_id'].encode('utf-8')), reading['time_ms'], reading['seq'],
        present, *(0 if value is None else value for value in values), 0)))


def fold(leaf, path):
    node = leaf
    for sibling in path:
        node = keccak(min(node, sibling) + max(node, sibling))
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


def check_batch(reading, batch):
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
    return None


def split_type(data):
    """Type and list of a transaction or receipt; None is the old kind, which has no type byte."""
    if not data:
        raise Malformed('it is empty')
    if data[0] >= 0xc0:
        return None, rlp_list(data)
    return data[0], rlp_list(data[1:])


def check_transaction(raw, anchor, call):
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
    if rlp_string(items, at_data, 'the data') != call:
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
        check_network(network, anchor, header_version)
        named = [f'network {network["name"]}']
    if named:
        passed('pins', f'it is of the {" and ".join(named)} you named')

    leaf = leaf_of(reading, leaf_version)
    if leaf != unhex(bundle['reading_hash']):
        raise Refused('leaf', f'the reading has the hash 0x{leaf.hex()}, and reading_hash is another')
    passed('leaf', '0x' + leaf.hex())

    if fold(leaf, [unhex(sibling) for sibling in bundle['path']]) != unhex(batch['root']):
        raise Refused('path', 'the path does not lead from the reading to the root')
    passed('path', f'{len(bundle["path"])} siblings up to the root {batch["root"]}')

    reason = check_batch(reading, batch)
    if reason:
        raise Refused('batch', reason)
    passed('batch', f'batch {batch["index"]}, whose {batch["count"]} numbers have that of this reading among them')

    index, first, last, count = batch['index'], batch['first'], batch['last'], batch['count']
    prev_head, root, head = unhex(batch['prev_head']), unhex(batch['root']), unhex(anchor['head'])
    header_hash = header_hash_of(batch, header_version)
    arguments = abi(prev_head, index, root, header_hash, first, last, count)
    if keccak(arguments) != head:
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
            kind = check_transaction(raw, anchor, SELECTOR + arguments)
            passed(check, f'{anchor["tx_hash"]}, number {anchor["tx_index"]} of the block')

            check = 'receipt'
            raw = trie_value(roots[1], key, [unhex(node) for node in bundle['receipt_proof']])
            check_receipt(raw, kind, unhex(anchor['contract']), [EVENT, abi(index), root, head],
                          abi(prev_head, header_hash, first, last, count))
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

UNITS = {'pm25': ' µg/m³', 'pm10': ' µg/m³', 'co2': ' ppm', 'temperature': ' °C', 'humidity': ' %'}


def utc(seconds):
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC')
    except (ValueError, OverflowError, OSError):
        return f'{seconds} s after 1970'


def measured(name, value):
    if value is None:
        return 'not reported'
    if name not in UNITS:
        return str(value)
    whole, rest = divmod(abs(value), 100)
    return f'{"-" if value < 0 else ""}{whole}.{rest:02d}{UNITS[name]}'


def is_demonstration(bundle, network):
    """The chain that anvil runs, or one of which its operator says so."""
    return (bundle['anchor']['chain_id'] == DEMONSTRATION_CHAIN
            or network is not None and network['chain']['demonstration'])


def in_words(bundle, chain_id, contract, block_hash, network):
    """What is proven, and what is left to trust."""
    reading, batch, anchor = bundle['reading'], bundle['batch'], bundle['anchor']
    yield f'sensor {reading["sensor_id"]}, measured {utc(reading["time_ms"] // 1000)}'
    for name in (*LEAF_VERSIONS[BUNDLE_VERSIONS[bundle['format']][0]], 'aqi'):
        yield f'  {name} {measured(name, reading[name])}'
    yield (f'existed so when block {anchor["block_number"]} was made, '
           f'{utc(anchor["block_time_s"])}')
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
    if missing:
        yield ('not asked: whether it is of the network that you mean: '
               f'you named no {" and no ".join(missing)}')
    if missing:
        yield (f'on trust: {anchor["contract"]} on chain {anchor["chain_id"]} '
               'is the network\'s contract')
    yield 'on trust: the sensor measured what it sent'
    yield (f'on trust: no other reading has the same number, and batch {batch["index"]} holds as many '
           f'as it counts ({batch["count"]}); `airproof audit` checks them all')
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
