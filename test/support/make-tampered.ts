/**
 * Adds to `tampered-2.json` what is not there yet: `node test/support/make-tampered.ts`. What is tampered
 * with is a sample, and every verifier must refuse it at the check that is named. Keys are new each time,
 * so what is there stays as it is.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fromRlp, keccak256, toRlp } from 'viem'
import { type BundleReading2, leafOf as leafHashOf } from '../../anchor/verifier/airproof-verify.js'
import { type Hex, hashBytes, toHex } from '../../core/hex.ts'
import { headOf } from '../../core/proof/header.ts'
import { merkleTree, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { headerOfBatch } from './header-of-batch.ts'
import { signingDevice } from './signing-device.ts'
import { sampleText } from './tampered.ts'

const keccak = await createKeccak()
type Change = { readonly at: readonly (string | number)[]; readonly put: unknown }
type Entry = { name: string; bundle: string; check: string; changes: readonly Change[] }

const city = 'v2-in-a-city'
const samples = Object.fromEntries(
  [city, 'v2-alone', 'v2-promoted', 'v2-ed25519', 'v2-p256', 'in-a-city', 'alone'].map((name) => [
    name,
    JSON.parse(sampleText(name)),
  ]),
)
const of = (bundle: string) => samples[bundle]
const put = (way: string, value: unknown): Change => ({
  at: way.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
  put: value,
})

/** Another reading, and the hash that it gives: the leaf holds. */
const rehashed = (bundle: string, over: Partial<BundleReading2>): Change[] => {
  const reading = { ...of(bundle).reading, ...over }
  return [
    ...Object.entries(over).map(([field, value]) => put(`reading.${field}`, value)),
    put('reading_hash', leafHashOf(reading, 2)),
  ]
}
/** Another batch, and the head that it gives. */
const reheaded = (bundle: string, over: object): Change[] => [
  ...Object.entries(over).map(([field, value]) => put(`batch.${field}`, value)),
  put('anchor.head', headOf(headerOfBatch({ ...of(bundle).batch, ...over }), keccak)),
]
const device = (bundle: string, over: object) => ({ ...of(bundle).reading.device, ...over })
/** Another signature, whose hash is in the leaf. */
const resigned = (bundle: string, over: object) =>
  rehashed(bundle, { device: device(bundle, over) })
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64')
const flipped = (text: string): string => {
  const bytes = bytesOf(text)
  bytes[20] = (bytes[20] ?? 0) ^ 1
  return base64(bytes)
}
const text = (bundle: string, change: (text: string) => string): Change[] => [
  put('reading.device.text', change(of(bundle).reading.device.text)),
]
const other = (hash: string): string => `${hash.slice(0, -1)}${hash.endsWith('0') ? '1' : '0'}`
const zero = `0x${'0'.repeat(64)}`

const { reading, path, batch, anchor } = of(city)
const values: [number, number][] = reading.values
const changedAt = <T>(list: readonly T[], at: number, value: T): T[] => list.with(at, value)
const nLast: number[] = batch.n_last
const nFirst: number[] = batch.n_first

/** A tree of its own, as large as the batch's, around a reading that was made up. */
const forged = { ...reading, values: changedAt(values, 0, [0, 100]) }
const rank = nLast.slice(0, 5).reduce((sum, last, q) => sum + last - nFirst[q]! + 1, 0) + 26
const ownLeaves = Array.from({ length: batch.count }, (_, n) =>
  n === rank
    ? hashBytes(leafHashOf(forged, 2) as Hex)
    : keccak(new TextEncoder().encode(`leaf ${n}`)),
)
const ownTree = merkleTree(ownLeaves, nodeHash(keccak, 2))
const ownReading = [
  ...rehashed(city, { values: forged.values }),
  put('path', ownTree.pathOf(rank).map(toHex)),
]
const ownRoot = toHex(ownTree.root)

// n of two readings of the same number, in a tree of two leaves
const twin = keccak(new TextEncoder().encode('another reading of this number'))
const alone = of('v2-alone')
const twins = merkleTree([hashBytes(alone.reading_hash), twin], nodeHash(keccak, 2))
const twinBatch = reheaded('v2-alone', { root: toHex(twins.root) })

const ed = 'v2-ed25519'
const p256 = 'v2-p256'
const edValues: [number, number][] = of(ed).reading.values
/** The text says a number that the reading has not, and its flag says that it was dropped. */
const unsaid = (pm25: string): Change[] => [
  ...rehashed(ed, { flags: 9, values: edValues.slice(1) }),
  ...text(ed, (one) => one.replace('pm25=22.70', `pm25=${pm25}`)),
]
const signedText = (bundle: string): string => of(bundle).reading.device.text
const orderOfP256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const orderOfEd = 2n ** 252n + 27742317777372353535851937790883648493n
const half = (bundle: string): [Buffer, Buffer] => {
  const bytes = bytesOf(of(bundle).reading.device.signature)
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}
const big = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const bytes32 = (number: bigint): Buffer =>
  Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
const highS = (): string => {
  const [r, s] = half(p256)
  return base64(Buffer.concat([r, bytes32(orderOfP256 - big(s))]))
}
const sPlusOrder = (): string => {
  const [r, s] = half(ed)
  const more = bytes32(big(s.toReversed()) + orderOfEd).reverse()
  return base64(Buffer.concat([r, more]))
}
const signedBy = (algorithm: 'ed25519' | 'p256', bundle: string, change = (one: string) => one) => {
  const {
    publicKey,
    signature,
    text: printed,
  } = signingDevice(algorithm).sign(change(signedText(bundle)))
  return { public_key: publicKey, signature, text: printed }
}
const rOfZero = base64(Buffer.concat([Buffer.alloc(32), half(p256)[1]]))
const offCurve = (): string => {
  const key = bytesOf(of(p256).reading.device.public_key)
  // x = 5 is not that of a point
  return base64(Buffer.concat([key.subarray(0, 1), bytes32(5n)]))
}
const v1 = of('in-a-city')

type Item = Hex | readonly Item[]
/** Another header of the block, and the hash that it gives. */
const headed = (change: (items: readonly Item[]) => readonly Item[]): Change[] => {
  const items: readonly Item[] = fromRlp(of(city).block_header, 'hex') as never
  const header = toRlp(change(items) as never)
  return [put('block_header', header), put('anchor.block_hash', keccak256(header))]
}
const padded = (items: readonly Item[], at: number): readonly Item[] =>
  items.with(at, `0x00${String(items[at]).slice(2)}`)
const nested = (depth: number): Item => (depth === 0 ? '0x' : [nested(depth - 1)])

const table: readonly [check: string, name: string, changes: readonly Change[], bundle?: string][] =
  [
    // what the leaf holds
    ['leaf', 'another sensor_id', [put('reading.sensor_id', 'NGR-LOS-IKJ-022')]],
    ['leaf', 'another time_ms', [put('reading.time_ms', reading.time_ms + 1)]],
    ['leaf', 'another seq', [put('reading.seq', reading.seq + 1)]],
    ['leaf', 'another area', [put('reading.area', 'Lekki')]],
    ['leaf', 'no area', [put('reading.area', '')]],
    ['leaf', 'another flag', [put('reading.flags', reading.flags ^ 1)]],
    ['leaf', 'another value', [put('reading.values.0', [0, values[0]![1] + 1])]],
    ['leaf', 'another sign of a value', [put('reading.values.0', [0, -values[0]![1]])]],
    ['leaf', 'a value left out', [put('reading.values', values.slice(1))]],
    ['leaf', 'no value', [put('reading.values', [])]],
    ['leaf', 'a value added', [put('reading.values', [...values, [15, 0]])]],
    ['leaf', 'a value of a quantity without a name', [put('reading.values', [...values, [16, 5]])]],
    [
      'leaf',
      'a value under another id',
      [put('reading.values', [...values.slice(0, -1), [9, values.at(-1)![1]]])],
    ],
    ['leaf', 'another aqi', [put('reading.aqi', 70)]],
    ['leaf', 'no aqi', [put('reading.aqi', null)]],
    [
      'leaf',
      'a hash that is not the reading’s',
      [put('reading_hash', other(of(city).reading_hash))],
    ],
    ['leaf', 'the leaf of version 1', [put('reading_hash', v1.reading_hash)]],
    ['leaf', 'a signature left out', [put('reading.device', null)], ed],
    ['leaf', 'a signature added', [put('reading.device', of(ed).reading.device)]],
    [
      'leaf',
      'a bit of the signature',
      [put('reading.device.signature', flipped(of(ed).reading.device.signature))],
      ed,
    ],
    [
      'leaf',
      'the key of another sensor',
      [put('reading.device.public_key', signedBy('p256', p256).public_key)],
      p256,
    ],
    // what a sensor signed
    [
      'signed text',
      'the text of another sensor',
      text(ed, (one) => one.replace('IKJ-007', 'IKJ-008')),
      ed,
    ],
    [
      'signed text',
      'the signature of another sensor',
      resigned(
        ed,
        signedBy('ed25519', ed, (one) => one.replace('IKJ-007', 'IKJ-008')),
      ),
      ed,
    ],
    [
      'signed text',
      'the signature of another time',
      resigned(
        p256,
        signedBy('p256', p256, (one) => one.replace(/\n\d+\n/, '\n1767225600000\n')),
      ),
      p256,
    ],
    [
      'signed text',
      'a time with a leading zero',
      text(ed, (one) => one.replace(/\n(\d+)\n/, '\n0$1\n')),
      ed,
    ],
    [
      'signed text',
      'another signed value',
      text(ed, (one) => one.replace('pm25=22.70', 'pm25=22.71')),
      ed,
    ],
    [
      'signed text',
      'a value half a hundredth away',
      text(ed, (one) => one.replace('pm10=34.005', 'pm10=34.0049')),
      ed,
    ],
    [
      'signed text',
      'a signed value of the wrong sign',
      text(ed, (one) => one.replace('humidity=65', 'humidity=-65')),
      ed,
    ],
    [
      'signed text',
      'a value that is not signed',
      text(ed, (one) => one.replace('\nco2=4.16e2', '')),
      ed,
    ],
    [
      'signed text',
      'a signed value that the reading has not',
      text(ed, (one) => one.replace('\npm10', '\no3=1\npm10')),
      ed,
    ],
    ['signed text', 'a value that was not dropped', rehashed(ed, { flags: 0 }), ed],
    [
      'signed text',
      'a value inside of its range that is marked as dropped',
      rehashed(ed, { flags: 9, values: edValues.slice(1) }),
      ed,
    ],
    [
      'signed text',
      'another value in the place of one that was signed, marked as dropped',
      rehashed(ed, { flags: 9, values: changedAt(edValues, 0, [0, 100]) }),
      ed,
    ],
    ...['1000.0049', '0', '-0.0049'].map((number): [string, string, readonly Change[], string] => [
      'signed text',
      `a value of ${number}, an end of its range, that is marked as dropped`,
      unsaid(number),
      ed,
    ]),
    ...['1000.005', '-0.005', '1e999', '-1e999'].map(
      (number): [string, string, readonly Change[], string] => [
        'signature',
        `a value of ${number}, outside of its range, that was dropped`,
        unsaid(number),
        ed,
      ],
    ),
    [
      'signed text',
      'no signed value',
      text(ed, (one) => one.split('\n').slice(0, 3).join('\n')),
      ed,
    ],
    [
      'signed text',
      'signed values out of order',
      text(ed, (one) => one.replace('co2=4.16e2\nhumidity=65', 'humidity=65\nco2=4.16e2')),
      ed,
    ],
    [
      'signed text',
      'a signed value twice',
      text(ed, (one) => one.replace('humidity=65', 'humidity=65\nhumidity=65')),
      ed,
    ],
    [
      'signed text',
      'another first line',
      text(ed, (one) => one.replace('device.v1', 'device.v2')),
      ed,
    ],
    ['signed text', 'a line feed at the end', text(ed, (one) => `${one}\n`), ed],
    [
      'signed text',
      'a number with a plus',
      text(ed, (one) => one.replace('humidity=65', 'humidity=+65')),
      ed,
    ],
    [
      'signed text',
      'a number with a leading zero',
      text(ed, (one) => one.replace('humidity=65', 'humidity=065')),
      ed,
    ],
    [
      'signed text',
      'a number with a point at its end',
      text(ed, (one) => one.replace('humidity=65', 'humidity=65.')),
      ed,
    ],
    [
      'signed text',
      'a number of 33 characters',
      text(ed, (one) => one.replace('humidity=65', `humidity=65.${'0'.repeat(30)}`)),
      ed,
    ],
    [
      'signed text',
      'digits of another script',
      text(ed, (one) => one.replace('humidity=65', 'humidity=٦٥')),
      ed,
    ],
    ['signed text', 'a carriage return', text(ed, (one) => one.replaceAll('\n', '\r\n')), ed],
    [
      'signed text',
      '65 values',
      text(
        ed,
        (one) =>
          `${one}${Array.from({ length: 60 }, (_, n) => `\nz${String(n).padStart(2, '0')}=1`).join('')}`,
      ),
      ed,
    ],
    [
      'signature',
      'the same values, written otherwise (Ed25519)',
      text(ed, (one) => one.replace('humidity=65', 'humidity=65.0')),
      ed,
    ],
    [
      'signature',
      'the same values, written otherwise (P-256)',
      text(p256, (one) => one.replace('humidity=65', 'humidity=65.0')),
      p256,
    ],
    [
      'signature',
      'a bit of the signature, and the hash that it gives (Ed25519)',
      resigned(ed, { signature: flipped(of(ed).reading.device.signature) }),
      ed,
    ],
    [
      'signature',
      'a bit of the signature, and the hash that it gives (P-256)',
      resigned(p256, { signature: flipped(of(p256).reading.device.signature) }),
      p256,
    ],
    [
      'signature',
      'the signature of another key (Ed25519)',
      resigned(ed, { signature: signedBy('ed25519', ed).signature }),
      ed,
    ],
    [
      'signature',
      'the signature of another key (P-256)',
      resigned(p256, { signature: signedBy('p256', p256).signature }),
      p256,
    ],
    [
      'signature',
      'another key (Ed25519)',
      resigned(ed, { public_key: signedBy('ed25519', ed).public_key }),
      ed,
    ],
    [
      'signature',
      'another key (P-256)',
      resigned(p256, { public_key: signedBy('p256', p256).public_key }),
      p256,
    ],
    ['signature', 'the high one of two s', resigned(p256, { signature: highS() }), p256],
    ['signature', 'an s above the order', resigned(ed, { signature: sPlusOrder() }), ed],
    ['signature', 'an r of zero', resigned(p256, { signature: rOfZero }), p256],
    ['signature', 'a key that is not a point', resigned(p256, { public_key: offCurve() }), p256],
    [
      'signature',
      'a key with another first byte',
      resigned(p256, {
        public_key: base64(
          Buffer.concat([Buffer.of(4), bytesOf(of(p256).reading.device.public_key).subarray(1)]),
        ),
      }),
      p256,
    ],
    // R = B, S = 1 is a signature of every text with the identity as key
    [
      'signature',
      'a key that signs every text',
      resigned(ed, {
        public_key: base64(Buffer.concat([Buffer.of(1), Buffer.alloc(31)])),
        signature: base64(
          Buffer.concat([Buffer.of(0x58), Buffer.alloc(31, 0x66), Buffer.of(1), Buffer.alloc(31)]),
        ),
      }),
      ed,
    ],
    // the numbers of the batch
    ['batch', 'a count that is one less', [put('batch.count', batch.count - 1)]],
    [
      'batch',
      'a number outside the batch',
      [put('batch.n_last.5', 26), put('batch.n_last.6', nLast[6]! + nLast[5]! - 26)],
    ],
    ['batch', 'a partition that there is not', rehashed(city, { seq: 16 * 2 ** 40 + 1 })],
    ['batch', 'the number 0', rehashed(city, { seq: 5 * 2 ** 40 })],
    [
      'batch',
      'numbers that run backwards',
      [put('batch.n_first.7', nLast[7]! + 2), put('batch.n_last.0', nLast[0]! + nLast[7]! + 1)],
    ],
    [
      'batch',
      'a batch that ends before the reading',
      [put('batch.time_max_ms', reading.time_ms - 1)],
    ],
    [
      'batch',
      'a batch that begins after the reading',
      [put('batch.time_min_ms', reading.time_ms + 1)],
    ],
    ['batch', 'a batch without a range', [put('batch.last', batch.first - 1)]],
    ['batch', 'no index', [put('batch.index', 0)]],
    ['batch', 'no root', [put('batch.root', zero)]],
    [
      'batch',
      'a number that has not 40 bits',
      [
        put('batch.n_first.15', nFirst[15]! + 2 ** 40),
        put('batch.n_last.15', nLast[15]! + 2 ** 40),
      ],
    ],
    // the place in the tree
    ['path', 'a sibling changed', [put('path.4', other(path[4]))]],
    ['path', 'two siblings exchanged', [put('path.0', path[1]), put('path.1', path[0])]],
    ['path', 'a path too short', [put('path', path.slice(0, -1))]],
    ['path', 'a path too long', [put('path', [...path, zero])]],
    ['path', 'the first sibling left out, as for an inner node', [put('path', path.slice(1))]],
    ['path', 'no path', [put('path', [])]],
    ['path', 'a sibling for a tree of one leaf', [put('path', [zero])], 'v2-alone'],
    ['path', 'a path of a tree of another size', [put('path', of('v2-promoted').path)], ed],
    [
      'path',
      'a sibling where a node has none',
      [put('path', [of('v2-promoted').reading_hash, ...of('v2-promoted').path])],
      'v2-promoted',
    ],
    ['path', 'siblings in the order of version 1', [put('path', path.toReversed())]],
    [
      'path',
      'another value, and the hash that it gives',
      rehashed(city, { values: forged.values }),
    ],
    ['path', 'another area, and the hash that it gives', rehashed(city, { area: 'Lekki' })],
    ['path', 'no flags, and the hash that it gives', rehashed(city, { flags: 0 })],
    [
      'path',
      'the number of its neighbour, and the hash that it gives',
      rehashed(city, { seq: reading.seq + 1 }),
    ],
    [
      'path',
      'the same number in another partition',
      rehashed(city, { seq: reading.seq + 2 ** 40 }),
    ],
    [
      'path',
      'a quantity without a name, and the hash that it gives',
      rehashed(city, { values: [...values, [16, 5]] }),
    ],
    [
      'path',
      'a signature left out, and the hash that it gives',
      rehashed(ed, { device: null }),
      ed,
    ],
    [
      'path',
      'a signature of another key, with that key',
      resigned(ed, signedBy('ed25519', ed)),
      ed,
    ],
    [
      'path',
      'two readings of one number: the first',
      [...twinBatch, put('path', [toHex(twin)])],
      'v2-alone',
    ],
    ['path', 'two readings of one number, without a path', twinBatch, 'v2-alone'],
    [
      'path',
      'ranks swapped by the numbers of other partitions',
      [put('batch.n_last.0', nLast[0]! - 1), put('batch.n_last.15', nLast[15]! + 1)],
    ],
    [
      'path',
      'a rank moved by a first number',
      [put('batch.n_first.5', nFirst[5]! + 1), put('batch.n_last.15', nLast[15]! + 1)],
    ],
    [
      'path',
      'a tree of another count',
      [put('batch.n_last.15', nLast[15]! + 100), put('batch.count', batch.count + 100)],
    ],
    ['path', 'the root of the batch of version 1', [put('batch.root', v1.batch.root)]],
    // the head
    [
      'head',
      'a tree of its own around a forged reading',
      [...ownReading, put('batch.root', ownRoot)],
    ],
    ['head', 'another index of the batch', [put('batch.index', batch.index + 1)]],
    ['head', 'another first of the batch', [put('batch.first', batch.first + 1)]],
    ['head', 'another last of the batch', [put('batch.last', batch.last + 1)]],
    ['head', 'another sealed_ms of the batch', [put('batch.sealed_ms', batch.sealed_ms + 1)]],
    ['head', 'another time_max_ms of the batch', [put('batch.time_max_ms', batch.time_max_ms + 1)]],
    [
      'head',
      'an earlier time_min_ms of the batch',
      [put('batch.time_min_ms', batch.time_min_ms - 1)],
    ],
    ['head', 'another beacon', [put('batch.beacon', other(batch.beacon))]],
    ['head', 'another prev_head', [put('batch.prev_head', other(batch.prev_head))]],
    [
      'head',
      'numbers moved between partitions after it',
      [put('batch.n_last.8', nLast[8]! - 1), put('batch.n_last.15', nLast[15]! + 1)],
    ],
    [
      'head',
      'first and last numbers moved together',
      [put('batch.n_first.15', nFirst[15]! + 1), put('batch.n_last.15', nLast[15]! + 1)],
    ],
    ['head', 'another head', [put('anchor.head', other(anchor.head))]],
    [
      'head',
      'the head of a batch of version 1',
      [
        put(
          'anchor.head',
          headOf({ ...headerOfBatch(batch), version: undefined } as never, keccak),
        ),
      ],
    ],
    // the chain
    [
      'transaction',
      'a whole batch of its own around a forged reading',
      [...ownReading, ...reheaded(city, { root: ownRoot })],
    ],
    [
      'transaction',
      'another index, and the head that it gives',
      reheaded(city, { index: batch.index + 1 }),
    ],
    [
      'transaction',
      'another first, and the head that it gives',
      reheaded(city, { first: batch.first + 1 }),
    ],
    [
      'transaction',
      'another prev_head, and the head that it gives',
      reheaded(city, { prev_head: other(batch.prev_head) }),
    ],
    [
      'transaction',
      'numbers before that are not the chain’s, and the head that they give',
      reheaded(city, {
        n_first: changedAt(nFirst, 15, nFirst[15]! + 1),
        n_last: changedAt(nLast, 15, nLast[15]! + 1),
      }),
    ],
    [
      'transaction',
      'another header, and the head that it gives',
      reheaded(city, { sealed_ms: batch.sealed_ms + 1 }),
    ],
    [
      'transaction',
      'a header that leaves out a number which the contract counts',
      [],
      'v2-left-out',
    ],
    ['transaction', 'a header that leaves out a log sequence', [], 'v2-gap'],
    ['transaction', 'another chain', [put('anchor.chain_id', 1)]],
    [
      'transaction',
      'another chain, of a transaction of the old kind',
      [put('anchor.chain_id', 1)],
      'v2-promoted',
    ],
    ['transaction', 'another contract', [put('anchor.contract', `0x${'1'.repeat(40)}`)]],
    ['transaction', 'another transaction hash', [put('anchor.tx_hash', other(anchor.tx_hash))]],
    ['transaction', 'another place in the block', [put('anchor.tx_index', 39)], ed],
    [
      'transaction',
      'the transaction of version 1',
      [put('transaction_proof', v1.transaction_proof)],
    ],
    [
      'transaction',
      'the transaction of another bundle',
      [put('transaction_proof', alone.transaction_proof)],
    ],
    [
      'transaction',
      'a trie node left out',
      [put('transaction_proof', of(ed).transaction_proof.slice(0, -1))],
      ed,
    ],
    [
      'transaction',
      'the block of another bundle',
      [
        put('block_header', alone.block_header),
        put('anchor.block_hash', alone.anchor.block_hash),
        put('anchor.block_number', alone.anchor.block_number),
        put('anchor.block_time_s', alone.anchor.block_time_s),
      ],
    ],
    ['block', 'another block hash', [put('anchor.block_hash', other(anchor.block_hash))]],
    ['block', 'another block number', [put('anchor.block_number', anchor.block_number + 1)]],
    ['block', 'another block time', [put('anchor.block_time_s', anchor.block_time_s + 1)]],
    ['block', 'a byte of the block header', [put('block_header', other(of(city).block_header))]],
    [
      'receipt',
      'a byte of the receipt',
      [put('receipt_proof.0', other(of(city).receipt_proof[0]))],
    ],
    ['receipt', 'the receipt of another bundle', [put('receipt_proof', alone.receipt_proof)]],
    ['receipt', 'the receipt of version 1', [put('receipt_proof', v1.receipt_proof)]],
    [
      'receipt',
      'the transaction in the place of its receipt',
      [put('receipt_proof', of(city).transaction_proof)],
    ],
    [
      'receipt',
      'a trie node of the receipts left out',
      [put('receipt_proof', of(ed).receipt_proof.slice(1))],
      ed,
    ],
    // how the chain writes, by which the block has another hash
    ['block', 'a block number with a leading zero', headed((items) => padded(items, 8))],
    ['block', 'a block time with a leading zero', headed((items) => padded(items, 11))],
    [
      'block',
      'a block header that is nested too deeply',
      headed((items) => [...items, nested(64)]),
    ],
    [
      'transaction',
      'another transaction in a block header that is nested as deeply as may be',
      [
        ...headed((items) => [...items, nested(63)]),
        put('transaction_proof', alone.transaction_proof),
      ],
    ],
    // of three readings; in doubles 2 + n - n + 1 is 2
    [
      'batch',
      'numbers of 53 bits, and one reading less counted',
      [
        put('batch.count', 2),
        put('batch.n_last.0', 2),
        put('batch.n_first.1', 2 ** 53 - 1),
        put('batch.n_last.1', 2 ** 53 - 1),
      ],
      'alone',
    ],
    // how it is written
    ['format', 'a newer format', [put('format', 'airproof.proof.v3')]],
    ['format', 'the format of version 1', [put('format', 'airproof.proof.v1')]],
    ['format', 'a reading of version 1', [put('reading', v1.reading)]],
    [
      'format',
      'a bundle of version 1 that says version 2',
      [put('format', 'airproof.proof.v2')],
      'in-a-city',
    ],
    ['format', 'ids out of order', [put('reading.values', values.toReversed())]],
    ['format', 'an id twice', [put('reading.values', [values[0], ...values])]],
    ['format', 'an id above 65535', [put('reading.values', [...values, [65_536, 1]])]],
    ['format', 'a negative id', [put('reading.values', [[-1, 1], ...values])]],
    ['format', 'a value of null', [put('reading.values.0', [0, null])]],
    ['format', 'a value that is a fraction', [put('reading.values.0', [0, 0.5])]],
    ['format', 'a value of 2^53', [put('reading.values.0', [0, 2 ** 53])]],
    ['format', 'an id without a value', [put('reading.values.0', [0])]],
    ['format', 'an id with two values', [put('reading.values.0', [0, 1, 2])]],
    ['format', 'values by name', [put('reading.values', { pm25: 1 })]],
    [
      'format',
      '257 values',
      [
        put(
          'reading.values',
          Array.from({ length: 257 }, (_, id) => [id, 1]),
        ),
      ],
    ],
    ['format', 'flags of 33 bits', [put('reading.flags', 2 ** 32)]],
    ['format', 'negative flags', [put('reading.flags', -1)]],
    ['format', 'an aqi of 65535', [put('reading.aqi', 65_535)]],
    ['format', 'an area of null', [put('reading.area', null)]],
    ['format', 'an area with a line feed', [put('reading.area', 'Ike\nja')]],
    ['format', 'an area of 257 characters', [put('reading.area', 'x'.repeat(257))]],
    ['format', 'true for a device', [put('reading.device', true)]],
    ['format', 'an unknown algorithm', [put('reading.device.algorithm', 'rsa')], ed],
    ['format', 'a list of an algorithm', [put('reading.device.algorithm', ['ed25519'])], ed],
    ['format', 'the other algorithm', [put('reading.device.algorithm', 'p256')], ed],
    [
      'format',
      'a key of 31 bytes',
      [
        put(
          'reading.device.public_key',
          base64(bytesOf(of(ed).reading.device.public_key).subarray(1)),
        ),
      ],
      ed,
    ],
    [
      'format',
      'bits after the end of the signature',
      [put('reading.device.signature', of(ed).reading.device.signature.replace(/.==$/, 'B=='))],
      ed,
    ],
    [
      'format',
      'a signature without its padding',
      [put('reading.device.signature', of(ed).reading.device.signature.replaceAll('=', ''))],
      ed,
    ],
    [
      'format',
      'a device without a text',
      [put('reading.device', { ...device(ed, {}), text: undefined })],
      ed,
    ],
    ['format', 'a device with another field', [put('reading.device', device(ed, { note: 1 }))], ed],
    [
      'format',
      '15 partitions',
      [put('batch.n_first', nFirst.slice(1)), put('batch.n_last', nLast.slice(1))],
    ],
    [
      'format',
      '17 partitions',
      [put('batch.n_first', [...nFirst, 1]), put('batch.n_last', [...nLast, 0])],
    ],
    ['format', 'level rpc with proofs', [put('level', 'rpc')]],
    ['format', 'an unknown field', [put('note', 1)]],
    ['format', 'upper case', [put('reading_hash', of(city).reading_hash.toUpperCase())]],
  ]

const file = 'test/fixtures/bundles/tampered-2.json'
const made: readonly Entry[] = JSON.parse(readFileSync(file, 'utf8')).tampered
const tampered = table.map(
  ([check, name, changes, bundle = city]): Entry =>
    made.find((one) => one.name === name && one.bundle === bundle && one.check === check) ?? {
      name,
      bundle,
      check,
      changes,
    },
)
writeFileSync(
  file,
  `${JSON.stringify({ source: 'As tampered.json, of samples of version 2.', tampered }, undefined, 1)}\n`,
)
console.log(`${tampered.length} there`)
