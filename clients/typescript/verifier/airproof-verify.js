/**
 * Checks a proof bundle (`.airproof.json`) of an air-quality reading, without asking whoever made
 * it. One file, no dependencies, for Node 20 and newer and for browsers:
 *
 *   node airproof-verify.js FILE [--network FILE] [--block-hash 0x…] [--chain-id N] [--contract 0x…] [--rpc URL]
 *
 *   import { verifyBundle } from './airproof-verify.js'
 *   const { ok, checks, trusts } = await verifyBundle(textOfTheFile)
 *
 * The format, and each check by the name it has here, is described in docs/proofs.md. Everything
 * is computed here from the bundle's values; no hash that it brings is believed.
 *
 * Apache-2.0
 */

// --- Keccak-256 -------------------------------------------------------------------------------

const rateBytes = 136
/** Low and high half of each round's constant, from the shift register that defines them. */
const roundConstants = (() => {
  const constants = new Int32Array(48)
  let register = 1
  for (let round = 0; round < 24; round++) {
    for (let j = 0; j < 7; j++) {
      const bit = 2 ** j - 1
      if (register & 1) constants[2 * round + (bit >> 5)] ^= 1 << (bit & 31)
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
  }
  return constants
})()
/** The way of the lanes through ρ and π: where each goes, and by how much it is rotated. */
const lanePath = (() => {
  const path = []
  let [x, y] = [1, 0]
  for (let t = 0; t < 24; t++) {
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
    path.push([x + 5 * y, (((t + 1) * (t + 2)) / 2) % 64])
  }
  return path
})()

/** Keccak-f[1600] in place; lane i is the halves 2i (low) and 2i + 1 (high). */
function permute(a) {
  const c = new Int32Array(10)
  const row = new Int32Array(10)
  for (let round = 0; round < 24; round++) {
    for (let h = 0; h < 10; h++) c[h] = a[h] ^ a[h + 10] ^ a[h + 20] ^ a[h + 30] ^ a[h + 40]
    for (let x = 0; x < 5; x++) {
      const [before, low, high] = [((x + 4) % 5) * 2, ((x + 1) % 5) * 2, ((x + 1) % 5) * 2 + 1]
      const dLow = c[before] ^ ((c[low] << 1) | (c[high] >>> 31))
      const dHigh = c[before + 1] ^ ((c[high] << 1) | (c[low] >>> 31))
      for (let lane = 2 * x; lane < 50; lane += 10) {
        a[lane] ^= dLow
        a[lane + 1] ^= dHigh
      }
    }
    let [low, high] = [a[2], a[3]]
    for (const [to, by] of lanePath) {
      const [keptLow, keptHigh] = [a[2 * to], a[2 * to + 1]]
      const [l, h] = by & 32 ? [high, low] : [low, high]
      const s = by & 31
      a[2 * to] = s === 0 ? l : (l << s) | (h >>> (32 - s))
      a[2 * to + 1] = s === 0 ? h : (h << s) | (l >>> (32 - s))
      low = keptLow
      high = keptHigh
    }
    for (let y = 0; y < 50; y += 10) {
      for (let h = 0; h < 10; h++) row[h] = a[y + h]
      for (let h = 0; h < 10; h++) a[y + h] = row[h] ^ (~row[(h + 2) % 10] & row[(h + 4) % 10])
    }
    a[0] ^= roundConstants[2 * round]
    a[1] ^= roundConstants[2 * round + 1]
  }
}

/** @param {Uint8Array} bytes */
export function keccak256(bytes) {
  const padded = new Uint8Array((Math.floor(bytes.length / rateBytes) + 1) * rateBytes)
  padded.set(bytes)
  padded[bytes.length] ^= 0x01
  padded[padded.length - 1] ^= 0x80
  const view = new DataView(padded.buffer)
  const state = new Int32Array(50)
  for (let at = 0; at < padded.length; at += rateBytes) {
    for (let h = 0; h < rateBytes / 4; h++) state[h] ^= view.getInt32(at + 4 * h, true)
    permute(state)
  }
  const hash = new DataView(new ArrayBuffer(32))
  for (let h = 0; h < 8; h++) hash.setInt32(4 * h, state[h], true)
  return new Uint8Array(hash.buffer)
}

// --- bytes, words, RLP, tries -------------------------------------------------------------------

/** A check that failed, with the reason for people. */
class Refusal extends Error {}
/** The node gave no answer, which says nothing about the bundle. */
class Unreachable extends Refusal {}

const refuse = (why) => {
  throw new Refusal(why)
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const toHex = (bytes) => bytes.reduce((text, byte) => text + digits[byte], '0x')
const toBytes = (hex) =>
  Uint8Array.from({ length: hex.length / 2 - 1 }, (_, at) =>
    Number.parseInt(hex.slice(2 + 2 * at, 4 + 2 * at), 16),
  )
const utf8 = (text) => new TextEncoder().encode(text)
const hashOf = (hexOrBytes) =>
  toHex(keccak256(typeof hexOrBytes === 'string' ? toBytes(hexOrBytes) : hexOrBytes))

/** Words of 32 bytes, as hex: a hash as it is, a number big-endian and in two's complement. */
const abi = (...values) => `0x${values.map(word).join('')}`
const word = (value) =>
  typeof value === 'string'
    ? value.slice(2).padStart(64, '0')
    : BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')

/** One RLP item: bytes or a list of items, and where it ends. */
function readItem(data, at, limit, depth = 0) {
  if (at >= limit) refuse('RLP ends too early')
  if (depth > 64) refuse('RLP is nested too deeply')
  const b = data[at]
  if (b < 0x80) return { item: data.subarray(at, at + 1), end: at + 1 }
  const isList = b >= 0xc0
  let size = b - (isList ? 0xc0 : 0x80)
  let start = at + 1
  if (size > 55) {
    start += size - 55
    const length = data.subarray(at + 1, Math.min(start, limit))
    size = length.reduce((sum, byte) => sum * 256 + byte, 0)
    if (length.length !== start - at - 1 || length[0] === 0 || size <= 55) {
      refuse('an RLP length is not the shortest')
    }
  }
  const end = start + size
  if (end > limit) refuse('RLP ends too early')
  if (!isList) {
    if (size === 1 && data[start] < 0x80) refuse('one byte of RLP is not the shortest')
    return { item: data.subarray(start, end), end }
  }
  const items = []
  for (let next = start; next < end; ) {
    const read = readItem(data, next, end, depth + 1)
    items.push(read.item)
    next = read.end
  }
  return { item: items, end }
}

function readList(data) {
  const { item, end } = readItem(data, 0, data.length)
  if (end !== data.length || !Array.isArray(item)) refuse('not one whole RLP list')
  return item
}

/** An item that has to be bytes, as hex. */
const hexAt = (items, index) =>
  items[index] instanceof Uint8Array ? toHex(items[index]) : refuse('an RLP item is no bytes')

function numberAt(items, index) {
  const hex = hexAt(items, index)
  if (hex.startsWith('0x00')) refuse('a number of RLP has a leading zero')
  return BigInt(hex.padEnd(3, '0'))
}

function rlpOfNumber(number) {
  const text = number === 0 ? '' : number.toString(16)
  const bytes = toBytes(`0x${text.length % 2 === 1 ? '0' : ''}${text}`)
  return bytes.length === 1 && bytes[0] < 0x80
    ? bytes
    : Uint8Array.from([0x80 + bytes.length, ...bytes])
}

const nibblesOf = (bytes) => Array.from(bytes).flatMap((byte) => [byte >> 4, byte & 15])

/** What a trie with this root holds at a position of the list; the nodes have to prove it. */
function trieValue(root, index, nodes) {
  let expected = root
  let key = nibblesOf(rlpOfNumber(index))
  for (const [place, node] of nodes.entries()) {
    if (hashOf(node) !== expected) refuse(`trie node ${place} has another hash than it should`)
    const items = readList(toBytes(node))
    if (items.length === 17) {
      const [next, ...rest] = key
      if (next === undefined) refuse('the key ends in a branch of the trie')
      expected = hexAt(items, next)
      key = rest
    } else if (items.length === 2 && hexAt(items, 0) !== '0x') {
      const packed = nibblesOf(items[0])
      const flag = packed[0]
      if (flag > 3 || (flag % 2 === 0 && packed[1] !== 0)) refuse('a trie path of no known kind')
      const path = packed.slice(flag % 2 === 1 ? 1 : 2)
      if (path.some((nibble, at) => nibble !== key[at])) refuse('the trie goes another way')
      key = key.slice(path.length)
      if (flag >= 2) {
        if (key.length > 0 || place !== nodes.length - 1) refuse('the leaf of the trie is not ours')
        return toBytes(hexAt(items, 1))
      }
      expected = hexAt(items, 1)
    } else {
      refuse('a trie node of no known kind')
    }
    if (expected.length !== 66) refuse('a trie node does not name the next by its hash')
  }
  return refuse('the trie proof ends before its leaf')
}

// --- versions -----------------------------------------------------------------------------------

// A line per version. A line never changes, and none is taken out: a file that was handed out stays valid.

/** By `format`: the versions of leaf and header that a bundle holds. */
export const bundleVersions = new Map([
  ['airproof.proof.v1', { leaf: 1, header: 1 }],
  ['airproof.proof.v2', { leaf: 2, header: 2 }],
])
const basic = ['pm25', 'pm10', 'co2', 'temperature', 'humidity']
/** By the ids of version 2, in hundredths: what is outside of it no sensor measures, and the network drops. It never changes. */
export const hardRanges = new Map([
  ['pm25', [0, 1e5]],
  ['pm10', [0, 1e5]],
  ['co2', [0, 4e6]],
  ['temperature', [-4000, 8500]],
  ['humidity', [0, 1e4]],
  ['pm1', [0, 1e5]],
  ['pm4', [0, 1e5]],
  ['pressure', [3e4, 11e4]],
  ['no2', [0, 2e6]],
  ['o3', [0, 2e6]],
  ['co', [0, 12e7]],
  ['so2', [0, 6e6]],
  ['voc_index', [100, 5e4]],
  ['nox_index', [100, 5e4]],
  ['tvoc', [0, 6e6]],
  ['noise', [0, 14e3]],
])
/** The values of a leaf: of version 1 in the order of its words, of version 2 by their ids. It may hold ids that have no name yet. */
export const leafVersions = new Map([
  [1, basic],
  [2, [...hardRanges.keys()]],
])
/** The fields of a header, each with its type, in the order of its words; arrays come last. */
export const headerVersions = new Map([
  [
    1,
    'uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast',
  ],
  [
    2,
    'uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast',
  ],
])

/** The row of a bundle's `format`. */
function versionOf(format) {
  const version = bundleVersions.get(format)
  if (version !== undefined) return version
  const known = [...bundleVersions.keys()].join(', ')
  return refuse(
    typeof format === 'string' && /^airproof\.proof\.v\d{1,9}$/.test(format)
      ? `its format is ${format}, and this verifier knows ${known}: get a newer verifier`
      : `its format is not one that this verifier knows (${known})`,
  )
}

// --- the format ---------------------------------------------------------------------------------

const isCount = (value) => Number.isSafeInteger(value) && value >= 0
const matches = (pattern) => (value) => typeof value === 'string' && pattern.test(value)
const isHash = matches(/^0x[0-9a-f]{64}$/)
const isBytes = matches(/^0x(?:[0-9a-f]{2})+$/)
const upTo = (most) => (value) => isCount(value) && value <= most
const isListOf = (is, least, most) => (value) =>
  Array.isArray(value) && value.length >= least && value.length <= most && value.every(is)

const orNull = (is) => (value) => value === null || is(value)

const readingFields = {
  sensor_id: matches(/^[^\p{Cc}\p{Cs} "\\]{1,64}$/u),
  time_ms: isCount,
  seq: isCount,
}
/** By the version of the leaf. */
const readingsFields = {
  1: {
    ...readingFields,
    ...Object.fromEntries(leafVersions.get(1).map((name) => [name, orNull(Number.isSafeInteger)])),
    aqi: orNull(upTo(65_535)),
  },
  2: {
    ...readingFields,
    area: matches(/^[^\p{Cc}\p{Cs}]{0,256}$/u),
    flags: upTo(0xffffffff),
    // an id without a name here is a later quantity's
    values: (values) =>
      isListOf(isIdAndValue, 0, 256)(values) &&
      values.every(([id], at) => at === 0 || id > values[at - 1][0]),
    aqi: orNull(upTo(65_534)),
    device: (device) => device === null || deviceFields[device?.algorithm],
  },
}
const isIdAndValue = (pair) =>
  Array.isArray(pair) && pair.length === 2 && upTo(65_535)(pair[0]) && Number.isSafeInteger(pair[1])
const signedFields = {
  // 64 bytes
  signature: matches(/^[A-Za-z0-9+/]{85}[AQgw]==$/),
  text: matches(/^[^\p{Cs}]{1,8192}$/u),
}
/** By algorithm: the key of Ed25519 has 32 bytes, that of P-256, a compressed point, 33. */
const deviceFields = {
  __proto__: null,
  ed25519: {
    algorithm: (name) => name === 'ed25519',
    public_key: matches(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/),
    ...signedFields,
  },
  p256: {
    algorithm: (name) => name === 'p256',
    public_key: matches(/^[A-Za-z0-9+/]{44}$/),
    ...signedFields,
  },
}
const batchFields = {
  index: isCount,
  prev_head: isHash,
  root: isHash,
  first: isCount,
  last: isCount,
  count: isCount,
  time_min_ms: isCount,
  time_max_ms: isCount,
  sealed_ms: isCount,
  beacon: isHash,
}
/** By the version of the header: how many partitions there may be. */
const partitions = { 1: [1, 8192], 2: [16, 16] }
const anchorFields = {
  chain_id: isCount,
  contract: matches(/^0x[0-9a-f]{40}$/),
  head: isHash,
  tx_hash: isHash,
  tx_index: isCount,
  block_hash: isHash,
  block_number: isCount,
  block_time_s: isCount,
}
const fields = ({ leaf, header }) => ({
  format: () => true,
  level: (value) => value === 'proof' || value === 'rpc',
  reading_hash: isHash,
  reading: readingsFields[leaf],
  path: isListOf(isHash, 0, 64),
  batch: {
    ...batchFields,
    n_first: isListOf(isCount, ...partitions[header]),
    n_last: isListOf(isCount, ...partitions[header]),
  },
  anchor: anchorFields,
})
const proofFields = {
  block_header: isBytes,
  transaction_proof: isListOf(isBytes, 1, 16),
  receipt_proof: isListOf(isBytes, 1, 16),
}

function checkFields(name, value, expected) {
  if (typeof value !== 'object' || value === null) refuse(`${name} is no object`)
  const given = Object.keys(value)
  const names = Object.keys(expected)
  const stray = given.find((one, at) => one !== names[at]) ?? names[given.length]
  if (stray !== undefined) refuse(`${name}: "${stray}" is unknown, missing or out of its place`)
  for (const [field, is] of Object.entries(expected)) {
    // of an object a function gives the fields that it has to have
    const inner = typeof is === 'function' ? is(value[field]) : is
    if (!inner) refuse(`${name}: "${field}" is not what it has to be`)
    if (inner !== true) checkFields(field, value[field], inner)
  }
}

const largestFile = 1_048_576

/** @param given the text of a file, or the object in it */
function parse(given) {
  const isText = typeof given === 'string'
  if (isText && given.length > largestFile) refuse('larger than any bundle')
  let bundle = given
  if (isText) {
    try {
      bundle = JSON.parse(given)
    } catch (error) {
      refuse(`not JSON: ${error.message}`)
    }
    if (`${JSON.stringify(bundle)}\n` !== given) refuse('not written in the one canonical way')
  }
  const version = versionOf(bundle?.format)
  const expected = { ...fields(version), ...(bundle.level === 'rpc' ? {} : proofFields) }
  checkFields('the bundle', bundle, expected)
  if (bundle.batch.n_first.length !== bundle.batch.n_last.length) {
    refuse('n_first and n_last differ in length')
  }
  return { bundle, version }
}

// --- the network --------------------------------------------------------------------------------

const networkFormat = 'airproof.network.v1'
const isAddress = matches(/^0x[0-9a-f]{40}$/)
const isObject = (value) => typeof value === 'object' && value !== null
/** A terminal obeys control characters. */
const isLine = matches(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u)
/** What a verifier needs of a network file. It may hold more. */
const networkFields = { name: isLine, chain: isObject, contracts: isListOf(isObject, 1, 1000) }
const chainFields = { id: isCount, demonstration: (value) => typeof value === 'boolean' }
const contractFields = {
  address: isAddress,
  version: isCount,
  block: isCount,
  code_hash: isHash,
  owner_at: isListOf(isCount, 0, 100),
  last_batch: (value) => value === undefined || value === null || isCount(value),
}
/** Where a contract begins and ends, with the last number of each partition: in every contract of a file, or in none. */
const rangeFields = {
  begins: (value) => isObject(value) && isEnd(value) && isCount(value.after_batch),
  ends: orNull(
    (value) => isObject(value) && isEnd(value) && isCount(value.block) && isCount(value.tx_index),
  ),
}
const isEnd = ({ head, numbers }) => isHash(head) && isListOf(isCount, 16, 16)(numbers)

/**
 * The network that the user means, from the text of its file: `/v1/network` of its API, kept from a
 * source that the user trusts.
 * @throws Error that says why the file pins nothing
 */
export function readNetwork(text) {
  let file
  try {
    file = JSON.parse(text)
  } catch (error) {
    throw new Error(`the network file is not JSON: ${error.message}`)
  }
  const format = file?.format
  if (format !== networkFormat) {
    throw new Error(
      typeof format === 'string' && /^airproof\.network\.v\d{1,9}$/.test(format)
        ? `the format of the network file is ${format}, and this verifier knows ${networkFormat}: get a newer verifier`
        : `this is not a network file: its format is not ${networkFormat}`,
    )
  }
  if (file.chain === null)
    throw new Error('this network has anchored nothing yet: there is nothing to pin')
  const need = (place, value, expected) => {
    for (const [field, is] of Object.entries(expected)) {
      if (!is(value[field])) {
        throw new Error(`the network file has no ${place}${field}, or not one of the right kind`)
      }
    }
  }
  need('', file, networkFields)
  need('chain.', file.chain, chainFields)
  const { name, chain, contracts } = file
  for (const contract of contracts) need('contracts.', contract, contractFields)
  if (contracts.some(({ begins, ends }) => begins !== undefined || ends !== undefined)) {
    for (const contract of contracts) need('contracts.', contract, rangeFields)
    if (!areOneStory(contracts)) {
      throw new Error(
        'in the network file a contract does not go on where the one before it ends: two of them could hold the same number',
      )
    }
  }
  return { name, chainId: chain.id, demonstration: chain.demonstration, contracts }
}

/** Whether each contract in which batches count begins where the one before it ends, the first one at zero. */
function areOneStory(contracts) {
  let end = { batch: 0, numbers: Array(16).fill(0) }
  for (const { begins, ends, last_batch } of contracts) {
    const last = last_batch ?? Infinity
    if (last <= begins.after_batch) continue
    const goesOn =
      begins.after_batch === end.batch && begins.numbers.every((n, at) => n === end.numbers[at])
    if (!goesOn || (last === Infinity) !== (ends === null)) return false
    end = { batch: last, numbers: ends?.numbers }
  }
  return true
}

/** The contract of the network that the bundle is of. */
function contractIn(network, { anchor, batch }, { header }) {
  const { name, chainId, contracts } = network
  if (anchor.chain_id !== chainId) {
    refuse(`it is on chain ${anchor.chain_id}, and the network ${name} is on chain ${chainId}`)
  }
  const contract = contracts.find(({ address }) => address === anchor.contract)
  if (contract === undefined) {
    refuse(`it is of contract ${anchor.contract}, which is not one of the network ${name}`)
  }
  if (contract.version !== header) {
    refuse(`its contract is of version ${contract.version}, and its batch of version ${header}`)
  }
  if (anchor.block_number < contract.block) {
    refuse(
      `it is in block ${anchor.block_number}, and its contract began in block ${contract.block}`,
    )
  }
  const last = contract.last_batch ?? Infinity
  if (batch.index > last) {
    refuse(`it is of batch ${batch.index}, and its contract counts up to batch ${last} only`)
  }
  if (contract.begins !== undefined) checkRange(contract, anchor, batch)
  return contract
}

/** Another contract of the network holds what is before the beginning and after the end. */
function checkRange({ begins, ends, last_batch: last }, anchor, batch) {
  const { index, n_first: nFirst, n_last: nLast } = batch
  const after = begins.after_batch
  if (index <= after)
    refuse(`it is of batch ${index}, and its contract counts after batch ${after} only`)
  if (index === after + 1 && batch.prev_head !== begins.head) {
    refuse('it is of the first batch of its contract, which began with another head')
  }
  if (nFirst.length !== 16) refuse(`its batch has ${nFirst.length} partitions, and the network 16`)
  for (const [partition, first] of nFirst.entries()) {
    const [before, end] = [begins.numbers[partition], ends?.numbers[partition] ?? Infinity]
    if (first <= before || nLast[partition] > end) {
      const upTo = ends ? ` up to ${end}` : ''
      refuse(
        `its batch has numbers ${first} to ${nLast[partition]} of partition ${partition}, and its contract counts those after ${before}${upTo} only`,
      )
    }
  }
  if (ends === null) return
  const { block_number: block, tx_index: place } = anchor
  if (block > ends.block || (block === ends.block && place > ends.tx_index)) {
    refuse(
      `it is in transaction ${place} of block ${block}, and its contract counts up to transaction ${ends.tx_index} of block ${ends.block} only`,
    )
  }
  if (index === last && anchor.head !== ends.head) {
    refuse('it is of the last batch of its contract, which left another head')
  }
}

/** Whether a node has the code at the contract's address that the network file names. */
async function askForCode(url, { address, code_hash: expected, owner_at: ownerAt }) {
  const code = await ask(url, 'eth_getCode', [address, 'latest'])
  if (!isBytes(code)) refuse(`there is no code at ${address}`)
  const bytes = toBytes(code)
  for (const at of ownerAt) bytes.fill(0, at, at + 32)
  if (hashOf(bytes) !== expected) refuse(`the code at ${address} is not that of the network file`)
}

// --- readings and batches -----------------------------------------------------------------------

/** The leaf of a reading, from its values alone. */
export const leafOf = (reading, version = 1) => hashOf(hashOf(leafWords[version](reading)))

const leafWords = { 1: leafWords1, 2: leafWords2 }

function leafWords1(reading) {
  const names = leafVersions.get(1)
  const type = `airproof.reading.v1(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,${names.map((name) => `int64 ${name},`).join('')}uint16 aqi,bytes32 deviceSig)`
  const values = [...names, 'aqi'].map((name) => reading[name])
  const present = values.reduce(
    (bits, value, bit) => (value === null ? bits : bits | (1 << bit)),
    0,
  )
  return abi(
    hashOf(utf8(type)),
    hashOf(utf8(reading.sensor_id)),
    reading.time_ms,
    reading.seq,
    present,
    ...values.map((value) => value ?? 0),
    0,
  )
}

const leafType2 =
  'airproof.reading.v2(bytes32 sensor,uint64 timeMs,uint64 seq,bytes32 area,uint32 flags,bytes32 values,uint16 aqi,bytes32 device)'

function leafWords2({ sensor_id: sensor, time_ms: timeMs, seq, area, flags, values, aqi, device }) {
  // of each value 2 bytes of its id and 8 of its hundredths: the ends of two words
  const packed = values.map(([id, value]) => word(id).slice(-4) + word(value).slice(-16))
  return abi(
    hashOf(utf8(leafType2)),
    hashOf(utf8(sensor)),
    timeMs,
    seq,
    hashOf(utf8(area)),
    flags,
    hashOf(`0x${packed.join('')}`),
    aqi ?? 65_535,
    device === null ? 0 : hashOf(deviceBytes(device)),
  )
}

/** As a bundle calls a field of a header: `prevHead` is `prev_head`. */
const fieldName = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function headerHashOf(batch, version) {
  const fieldsOfType = headerVersions.get(version)
  const values = fieldsOfType.split(',').map((field) => batch[fieldName(field.split(' ')[1])])
  const tails = []
  const words = values.map((value) => {
    if (!Array.isArray(value)) return value
    const at = 32 * (1 + values.length + tails.length)
    tails.push(value.length, ...value)
    return at
  })
  return hashOf(
    abi(hashOf(utf8(`airproof.batch.v${version}(${fieldsOfType})`)), ...words, ...tails),
  )
}

/** By the version of the batch: the root to which a leaf and its path lead. */
const foldPath = { 1: foldSorted, 2: foldPlaced }

function foldSorted(leaf, path) {
  return path.reduce((node, sibling) => {
    // lower-case hex of one length: the order of texts is that of the bytes
    const [low, high] = node < sibling ? [node, sibling] : [sibling, node]
    return hashOf(abi(low, high))
  }, leaf)
}

/** A number has one place among the leaves, from which the sides and the length of its path follow. */
function foldPlaced(leaf, path, seq, { n_first: nFirst, n_last: nLast, count }) {
  const { partition, n } = placeOf(seq)
  let at = n - nFirst[partition]
  for (let q = 0; q < partition; q++) at += nLast[q] - nFirst[q] + 1
  const sides = []
  for (let size = count; size > 1; size = Math.ceil(size / 2)) {
    if (at % 2 === 1) sides.push('right')
    else if (at + 1 < size) sides.push('left')
    at = Math.floor(at / 2)
  }
  if (path.length !== sides.length) {
    refuse(`the path has ${path.length} siblings, and that place of the tree has ${sides.length}`)
  }
  return sides.reduce((node, side, level) => {
    const [left, right] = side === 'left' ? [node, path[level]] : [path[level], node]
    return hashOf(`0x01${left.slice(2)}${right.slice(2)}`)
  }, leaf)
}

const placeOf = (seq) => ({ partition: Math.floor(seq / 2 ** 40), n: seq % 2 ** 40 })

function checkBatch({ seq, time_ms: timeMs }, batch, version) {
  const { n_first: nFirst, n_last: nLast } = batch
  const { partition, n } = placeOf(seq)
  if (partition >= nFirst.length) refuse('the partition of the reading is not in the batch')
  if (n < nFirst[partition] || n > nLast[partition]) {
    refuse(`reading ${n} of partition ${partition} is not among those of the batch`)
  }
  if (timeMs < batch.time_min_ms || timeMs > batch.time_max_ms) {
    refuse('the time of the reading is not within the batch')
  }
  if (nFirst.some((first, at) => first < 1 || nLast[at] < first - 1)) {
    refuse('the numbers of a partition run backwards')
  }
  // a number alone may take all 53 bits: each difference first, then the sum
  const sum = nFirst.reduce((total, first, at) => total + (nLast[at] - first + 1), 0)
  if (sum !== batch.count) refuse(`${sum} readings are numbered, and ${batch.count} counted`)
  if (batch.index < 1 || batch.first < 1 || batch.last < batch.first) {
    refuse('its index or its range cannot be')
  }
  if (/^0x0*$/.test(batch.root)) refuse('it has no root')
  if (version === 2 && nLast.some((last) => last >= 2 ** 40)) {
    refuse('it has numbers that its contract cannot hold')
  }
}

// --- what a sensor signed -----------------------------------------------------------------------

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
const numberOf = (bytes) => BigInt(toHex(bytes))

const algorithmBytes = { ed25519: 1, p256: 2 }
const deviceBytes = ({ algorithm, public_key: key, signature }) =>
  Uint8Array.from([algorithmBytes[algorithm], ...fromBase64(key), ...fromBase64(signature)])

/**
 * A number as the sensor wrote it, in whole hundredths: rounded half away from zero on the shortest
 * decimal text of the double, which the comparison with the tie above does without making any text.
 */
function hundredthsOf(text) {
  const value = Number(text)
  const size = Math.abs(value)
  if (size >= 1e12) return Math.sign(value) * 1e14
  const down = Math.floor(size * 100)
  const rounded = size >= (2 * down + 1) / 200 ? down + 1 : down
  return value < 0 && rounded !== 0 ? -rounded : rounded
}

/** The bit of `flags` that says that the sensor sent a value which no such sensor can measure. */
const isDropped = (flags, id) => ((flags >>> (id < 5 ? id : id + 7)) & 1) === 1

const signedLine =
  /^([A-Za-z0-9_]{1,32})=(?=.{1,32}$)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** Whether what was signed is this reading: its sensor, its time and each of its values. */
function checkSignedText({ sensor_id: sensorId, time_ms: timeMs, flags, values, device }) {
  const [title, sensor, time, ...lines] = device.text.split('\n')
  if (title !== 'airproof.device.v1') refuse('it is not a text that sensors sign')
  if (sensor !== sensorId) refuse('it is of another sensor')
  if (time !== String(timeMs)) refuse('it is of another time')
  const signed = new Map()
  let before = ''
  for (const line of lines) {
    const [, name, text] = signedLine.exec(line) ?? refuse('it has a line that is not a value')
    if (name <= before) refuse('its values are not sorted by name')
    before = name
    signed.set(name, hundredthsOf(text))
  }
  if (lines.length < 1 || lines.length > 64) refuse('it has not 1 to 64 values')
  const held = new Map(values)
  for (const [id, name] of leafVersions.get(2).entries()) {
    const [value, said] = [held.get(id), signed.get(name)]
    if (value === said) continue
    const [low, high] = hardRanges.get(name)
    // the flag alone is the operator's word
    const isOutside = said < low || said > high
    if (value !== undefined || !isOutside || !isDropped(flags, id)) {
      refuse(`its ${name} is not that of the reading`)
    }
  }
}

const namesIn = (text) =>
  text
    .split('\n')
    .slice(3)
    .map((line) => line.split('=')[0])

const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const curveB = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

function power(base, exponent, modulus) {
  let result = 1n
  for (let rest = exponent, square = base; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** Not every browser reads a compressed point. */
function wholePoint(key) {
  const x = numberOf(key.subarray(1))
  const ySquared = (x ** 3n + (prime - 3n) * x + curveB) % prime
  const root = power(ySquared, (prime + 1n) / 4n, prime)
  if ((key[0] !== 2 && key[0] !== 3) || x >= prime || (root * root) % prime !== ySquared) {
    refuse('its key is not a point of the curve')
  }
  const y = (root & 1n) === BigInt(key[0] & 1) ? root : prime - root
  return toBytes(`0x04${word(x)}${word(y)}`)
}

const edwardsPrime = 2n ** 255n - 19n
const eighth = 2707385501144840649318225287225658788936804267575313519463743609750303402022n

/** With a key of small order one signature fits many texts. */
function usableKey(key) {
  const y = numberOf(key.toReversed()) & (2n ** 255n - 1n)
  const unusable = [0n, 1n, edwardsPrime - 1n, eighth, edwardsPrime - eighth]
  if (y >= edwardsPrime || unusable.includes(y)) refuse('anyone can sign with its key')
  return key
}

function wholeNumbers(signature) {
  const [r, s] = [numberOf(signature.subarray(0, 32)), numberOf(signature.subarray(32))]
  if (r === 0n || r >= order || s === 0n || s >= order) refuse('its r or s cannot be')
  if (s > order / 2n) refuse('its s is the high one of the two that sign the same')
}

/** @returns whether the key signed the text; undefined where this machine has no means to tell */
async function isSigned({ algorithm, public_key: publicKey, signature: given, text }) {
  const [key, signature] = [fromBase64(publicKey), fromBase64(given)]
  const isEdwards = algorithm === 'ed25519'
  if (!isEdwards) wholeNumbers(signature)
  const raw = isEdwards ? usableKey(key) : wholePoint(key)
  const kind = isEdwards
    ? { name: 'Ed25519' }
    : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  // a page that did not come over TLS has none
  const subtle = globalThis.crypto?.subtle
  try {
    const imported = await subtle?.importKey('raw', raw, kind, false, ['verify'])
    return await subtle?.verify(kind, imported, signature, utf8(text))
  } catch (error) {
    return error.name === 'NotSupportedError' ? undefined : refuse('its key is not one')
  }
}

// --- the chain ----------------------------------------------------------------------------------

/** Where chain id, `to` and data stand in the list of each type; a deposit names no chain. */
const txPlaces = {
  1: { chainId: 0, to: 4, data: 6 },
  2: { chainId: 0, to: 5, data: 7 },
  3: { chainId: 0, to: 5, data: 7 },
  4: { chainId: 0, to: 5, data: 7 },
  126: { to: 2, data: 7 },
}

/** What the batch has to have left on the chain: its head, a call, and a log that names topic, batch and head. */
function expectedOnChain(batch, contract, header) {
  const { head, isCall, topic, data } = chainVersions[header](batch, headerHashOf(batch, header))
  const topics = [topic, abi(batch.index), batch.root, head]
  return { head, isCall, log: JSON.stringify([contract, topics, data]) }
}

/** By the version of the header, which is that of the contract. */
const chainVersions = { 1: onChain1, 2: onChain2 }

function onChain1({ index, prev_head: prevHead, root, first, last, count }, headerHash) {
  const call = abi(prevHead, index, root, headerHash, first, last, count)
  return {
    head: hashOf(call),
    isCall: (data) => data === `0xf1da9da0${call.slice(2)}`,
    topic: '0x9c50ab2552db77059382134f25155c02c9b69947e9563d788f06d57216ad5a03',
    data: abi(prevHead, headerHash, first, last, count),
  }
}

/** The call names the record of the batch before, whose hash is `prev_head`. */
function onChain2(batch, headerHash) {
  const { index, prev_head: prevHead, root, first, last, count } = batch
  const before = packed(batch.n_first.map((n) => n - 1))
  const n = packed(batch.n_last)
  const isRecordBefore = (record) =>
    hashOf(record) === prevHead &&
    record.slice(66, 130) === word(index - 1) &&
    record.slice(258) === abi(first - 1, ...before).slice(2)
  return {
    head: hashOf(abi(prevHead, index, root, headerHash, last, ...n)),
    isCall: (data) =>
      data.slice(0, 10) === '0x90badc15' &&
      isRecordBefore(`0x${data.slice(10, 522)}`) &&
      data.slice(522) === abi(root, headerHash, last, ...n).slice(2),
    topic: '0x905dd6517982daa83341b664670b2bdfea90d6402bd71c62a7cea7940abaa693',
    data: abi(prevHead, headerHash, first, last, count, ...before, ...n),
  }
}

/** Sixteen numbers of 40 bits in three words, six to a word, the first in the lowest bits. */
const packed = (numbers) =>
  [0, 6, 12].map((from) =>
    numbers.slice(from, from + 6).reduceRight((bits, n) => (bits << 40n) | BigInt(n), 0n),
  )

/** Type (`old` for one that has none) and list of a transaction or receipt. */
const typed = (bytes) =>
  bytes[0] >= 0xc0
    ? { type: 'old', items: readList(bytes) }
    : { type: bytes[0], items: readList(bytes.subarray(1)) }

function readBlock(bundle) {
  const { anchor } = bundle
  if (hashOf(bundle.block_header) !== anchor.block_hash) refuse('its hash is another')
  const header = readList(toBytes(bundle.block_header))
  if (header.length < 15) refuse('its header is too short')
  if (numberAt(header, 8) !== BigInt(anchor.block_number)) refuse('its number is another')
  if (numberAt(header, 11) !== BigInt(anchor.block_time_s)) refuse('its time is another')
  return { transactionsRoot: hexAt(header, 4), receiptsRoot: hexAt(header, 5) }
}

/** @returns the type of the transaction */
function checkTransaction(bytes, anchor, isCall) {
  if (hashOf(bytes) !== anchor.tx_hash) refuse('its hash is another')
  const { type, items } = typed(bytes)
  let place = txPlaces[type]
  let chainId = BigInt(anchor.chain_id)
  if (type === 'old') {
    place = { to: 3, data: 5 }
    const v = numberAt(items, 6)
    if (v < 35n) refuse('it names no chain')
    chainId = (v - 35n) / 2n
  } else if (place === undefined) {
    refuse(`it has the unknown type ${type}`)
  } else if (place.chainId !== undefined) {
    chainId = numberAt(items, place.chainId)
  }
  if (chainId !== BigInt(anchor.chain_id)) refuse(`it is for chain ${chainId}`)
  if (hexAt(items, place.to) !== anchor.contract) refuse('it calls another contract')
  if (!isCall(hexAt(items, place.data))) refuse('it anchors something else')
  return type
}

function checkReceipt(bytes, type, expectedLog) {
  const receipt = typed(bytes)
  if (receipt.type !== type) refuse('it is of another type than the transaction')
  if (hexAt(receipt.items, 0) !== '0x01') refuse('the transaction failed')
  const logs = receipt.items[3]
  if (!Array.isArray(logs)) refuse('it holds no logs')
  if (!logs.some((log) => JSON.stringify(allHex(log)) === expectedLog)) {
    refuse('the contract did not say that it anchored this batch')
  }
}

const allHex = (item) => (Array.isArray(item) ? item.map(allHex) : toHex(item))

async function ask(url, method, params) {
  let answer
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(15_000),
    })
    if (!response.ok) throw new Unreachable(`the node answered ${response.status}`)
    answer = await response.json()
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Unreachable(`the node cannot be asked: ${error.message}`)
  }
  if (answer?.error) refuse(`the node refused ${method}: ${answer.error.message}`)
  if (answer?.result === undefined || answer.result === null) refuse(`the node knows no ${method}`)
  return answer.result
}

async function askNode(url, bundle, expectedLog) {
  const { anchor } = bundle
  const is = (said, expected) => Number(said) === expected
  if (!is(await ask(url, 'eth_chainId', []), anchor.chain_id))
    refuse('it is a node of another chain')
  const number = `0x${anchor.block_number.toString(16)}`
  const block = await ask(url, 'eth_getBlockByNumber', [number, false])
  if (block.hash !== anchor.block_hash) refuse(`block ${anchor.block_number} is another one there`)
  const finalized = await ask(url, 'eth_getBlockByNumber', ['finalized', false])
  if (!(Number(finalized.number) >= anchor.block_number)) refuse('the block is not finalized yet')
  if (bundle.level === 'proof') return
  if (!is(block.timestamp, anchor.block_time_s)) refuse('the time of the block is another')
  const receipt = await ask(url, 'eth_getTransactionReceipt', [anchor.tx_hash])
  if (
    receipt.blockHash !== anchor.block_hash ||
    !is(receipt.blockNumber, anchor.block_number) ||
    !is(receipt.transactionIndex, anchor.tx_index)
  ) {
    refuse('the transaction is in another place')
  }
  if (receipt.status !== '0x1') refuse('the transaction failed')
  const logs = Array.isArray(receipt.logs) ? receipt.logs : []
  const said = logs.map(({ address, topics, data }) => JSON.stringify([address, topics, data]))
  if (!said.some((log) => log.toLowerCase() === expectedLog)) {
    refuse('the contract did not say that it anchored this batch')
  }
}

// --- all together -------------------------------------------------------------------------------

/**
 * Checks in order and ends at the first that fails.
 * @param given the text of a bundle's file, every byte of it, or the object in it
 */
export async function verifyBundle(given, options = {}) {
  const checks = []
  const result = {
    ok: false,
    checks,
    notAsked: [],
    demonstration: false,
    unreachable: false,
    proves: [],
    trusts: [],
    reading: null,
    block: null,
  }
  const check = async (name, look, why) => {
    try {
      const seen = await look()
      if (seen?.notAsked) result.notAsked.push({ name, why: seen.notAsked })
      else checks.push({ name, ok: true, why })
      return seen
    } catch (error) {
      checks.push({ name, ok: false, why: error.message })
      throw error
    }
  }
  try {
    await verify(given, options, check, result)
    result.ok = true
  } catch (error) {
    // a bundle that this code trips over is refused like any other
    if (!(error instanceof Refusal) && checks.at(-1)?.ok !== false) throw error
    result.trusts = []
    result.unreachable = error instanceof Unreachable
  }
  return result
}

async function verify(given, options, check, result) {
  const { trustedBlockHash, chainId, contract, network, rpc } = options
  const { bundle, version } = await check(
    'format',
    () => parse(given),
    'written as its version says, to the byte',
  )
  const { reading, batch, anchor } = bundle
  const isDemonstration =
    anchor.chain_id === demonstrationChainId || network?.demonstration === true
  const named = pinNames({ chainId, contract }, network)
  const pins = () => {
    if (chainId !== undefined && Number(chainId) !== anchor.chain_id) {
      refuse(`it is on chain ${anchor.chain_id}, not ${chainId}`)
    }
    if (contract !== undefined && contract.toLowerCase() !== anchor.contract) {
      refuse(`it is of contract ${anchor.contract}, not ${contract}`)
    }
    return network && contractIn(network, bundle, version)
  }
  const pinned =
    named.given === ''
      ? undefined
      : await check('pins', pins, `it is of the ${named.given} you named`)
  // what was not asked has no answer, least of all a yes
  if (named.missing !== '') {
    const why = `whether it is of the network that you mean: you named no ${named.missing}`
    result.notAsked.push({ name: 'pins', why })
  }
  const leaf = leafOf(reading, version.leaf)
  const isLeaf = () => leaf === bundle.reading_hash || refuse(`the values give the hash ${leaf}`)
  await check('leaf', isLeaf, `the values give the hash ${leaf}`)
  const isMade = reading.device ? await checkDevice(reading, check) : false
  const isInTree = () =>
    foldPath[version.header](leaf, bundle.path, reading.seq, batch) === batch.root ||
    refuse('the reading is not in the tree')
  const inTree = () => check('path', isInTree, `the reading is in the tree with root ${batch.root}`)
  // in version 2 the batch's numbers say where in the tree it is
  if (version.header === 1) await inTree()
  await check(
    'batch',
    () => checkBatch(reading, batch, version.header),
    `its number is one of the ${batch.count} that batch ${batch.index} gives out, and its time is within that of the batch`,
  )
  if (version.header !== 1) await inTree()
  const expected = expectedOnChain(batch, anchor.contract, version.header)
  const isHead = () => expected.head === anchor.head || refuse('the batch gives another head')
  await check('head', isHead, `the batch makes the head ${anchor.head}`)

  if (bundle.level === 'proof') {
    const { transactionsRoot, receiptsRoot } = await check(
      'block',
      () => readBlock(bundle),
      `block ${anchor.block_number} has the hash ${anchor.block_hash}`,
    )
    const held = (root, proof) => trieValue(root, anchor.tx_index, proof)
    const type = await check(
      'transaction',
      () =>
        checkTransaction(held(transactionsRoot, bundle.transaction_proof), anchor, expected.isCall),
      `the block holds transaction ${anchor.tx_hash}, which anchors this batch`,
    )
    await check(
      'receipt',
      () => checkReceipt(held(receiptsRoot, bundle.receipt_proof), type, expected.log),
      'it succeeded, and the contract says so',
    )
  }
  if (trustedBlockHash !== undefined) {
    const isTrusted = () =>
      trustedBlockHash.toLowerCase() === anchor.block_hash ||
      refuse(`it is in block ${anchor.block_hash}, not in the one you trust`)
    await check('trusted block', isTrusted, 'it is the block you trust')
  }
  if (rpc !== undefined) {
    await check(
      'node',
      () => askNode(rpc, bundle, expected.log),
      bundle.level === 'rpc'
        ? 'the node says that the batch was anchored, in a finalized block'
        : 'the node says that the block is part of the chain, and finalized',
    )
  } else if (bundle.level === 'rpc') {
    await check('node', () => refuse('this bundle needs a node to be asked: name one with --rpc'))
  }

  if (pinned !== undefined && pinned.begins === undefined) {
    const why =
      'whether it is within what its contract holds: the network file does not say where each contract begins and ends, get a newer one'
    result.notAsked.push({ name: 'pins', why })
  }
  if (pinned !== undefined && rpc === undefined) {
    const why = `whether the code at ${pinned.address} is that of the network file: only a node knows it, name one with --rpc`
    result.notAsked.push({ name: 'code', why })
  } else if (pinned !== undefined) {
    await check('code', () => askForCode(rpc, pinned), `the node has the code of the network file`)
  }

  result.reading = inWords(reading, version.leaf)
  result.block = {
    chainId: anchor.chain_id,
    contract: anchor.contract,
    number: anchor.block_number,
    hash: anchor.block_hash,
    time: isoTime(anchor.block_time_s * 1000),
    txHash: anchor.tx_hash,
  }
  result.demonstration = isDemonstration
  const known = { bundle, version, isMade, trustedBlockHash, rpc, network, pinned }
  const isCodeKnown = pinned !== undefined && rpc !== undefined
  result.proves = provesOf(known)
  result.trusts = trustsOf({ ...known, isPinned: named.missing === '', isCodeKnown })
  if (isDemonstration) result.trusts.unshift(demonstrationWords(anchor.chain_id))
}

/** The chain that anvil runs on the operator's own machine. */
const demonstrationChainId = 31337
const demonstrationWords = (chainId) =>
  `the time of the block: chain ${chainId} is a demonstration chain, which shows how it works; it proves nothing about time, because the operator runs this chain`

/** A network file names its chain and its contracts. */
const pinNames = ({ chainId, contract }, network) => {
  if (network !== undefined) return { given: `network ${network.name}`, missing: '' }
  const pins = { chain: chainId, contract }
  const names = (isGiven) =>
    Object.keys(pins)
      .filter((name) => (pins[name] !== undefined) === isGiven)
      .join(isGiven ? ' and ' : ' and no ')
  return { given: names(true), missing: names(false) }
}

/** @returns whether the key is known to have signed it */
async function checkDevice(reading, check) {
  const { device } = reading
  await check(
    'signed text',
    () => checkSignedText(reading),
    'what the sensor signed is this sensor, this time and these values',
  )
  const look = async () => {
    const isMade = await isSigned(device)
    if (isMade === false) refuse('the key did not sign this text')
    return isMade ?? { notAsked: `not checked here: nothing here knows ${device.algorithm}` }
  }
  return (await check('signature', look, `the key ${device.public_key} signed it`)) === true
}

/** What holds, in words. What it takes beyond the file is in `trustsOf`. */
function provesOf({ bundle: { reading, batch, anchor }, version, isMade, network, pinned }) {
  const time = isoTime(anchor.block_time_s * 1000)
  const proves = [
    `this reading existed, with these values, when block ${anchor.block_number} was made (${time})`,
  ]
  if (version.header === 2) {
    const { partition, n } = placeOf(reading.seq)
    proves.push(
      `this is reading number ${n.toLocaleString('en')} of partition ${partition}; in contract ${anchor.contract}, from its beginning on, no other reading bears that number, and every number from there up to it has its place in batch ${batch.index} or an earlier one: it takes no other batch${pinned?.begins ? `; and no other contract of the network ${network.name} counts for that number` : ''}`,
    )
  }
  if (isMade) {
    const { algorithm, public_key: key } = reading.device
    proves.push(`it was made by the holder of the ${algorithm} key ${key}`)
  }
  return proves
}

function trustsOf({
  bundle,
  version,
  isMade,
  trustedBlockHash,
  isPinned,
  isCodeKnown,
  rpc,
  network,
  pinned,
}) {
  const { anchor, batch, level, reading } = bundle
  const trusts = []
  // a node's URL may hold a key
  const node = rpc === undefined ? '' : `the node at ${new URL(rpc).host} tells the truth about`
  if (level === 'rpc') {
    trusts.push(`that ${node} the transaction`)
  } else if (trustedBlockHash === undefined) {
    trusts.push(
      rpc === undefined
        ? `that ${anchor.block_hash} is the hash of block ${anchor.block_number} of chain ${anchor.chain_id}: compare it with a source that you trust`
        : `that ${node} block ${anchor.block_hash}`,
    )
  }
  if (!isPinned) {
    trusts.push(
      `that contract ${anchor.contract} on chain ${anchor.chain_id} is the one of the network`,
    )
  }
  if (version.header === 2 && !isCodeKnown) {
    trusts.push(
      `that contract ${anchor.contract} has the code of version 2, which takes no number twice and leaves none out`,
    )
  }
  if (pinned !== undefined && pinned.begins === undefined) {
    trusts.push(
      `that no other contract of the network ${network.name} holds a reading of the same number, and that no thief anchored it after its contract was given up: the network file does not say where each contract begins and ends`,
    )
  }
  if (version.header === 2 && !isFirst(batch)) {
    trusts.push(
      pinned?.begins
        ? `that contract ${anchor.contract} began where the network file says, after batch ${pinned.begins.after_batch}, so that nothing is left out before: \`airproof audit\` asks the chain`
        : `what is before the beginning of contract ${anchor.contract}, unless it began at zero: that no other reading bears that number there, and that none is left out`,
    )
  }
  trusts.push('that the sensor measured what it sent: the proof begins where it was accepted')
  trusts.push(
    'that the index (aqi) is that of these values: the operator computes it, and it is not checked here',
  )
  trusts.push(
    version.header === 1
      ? `that no other reading has the same number, and that batch ${batch.index} holds as many as it counts (${batch.count}): only \`airproof audit\` checks all that is in a batch`
      : 'that the sensor has no second reading of the same time under another number: only `airproof audit` checks that',
  )
  if (version.leaf === 2) trusts.push(madeBy(reading, isMade))
  if (isMade && reading.values.some(([id]) => id >= leafVersions.get(2).length)) {
    trusts.push('that the values without a name are those that were signed: get a newer verifier')
  }
  const strange = isMade ? namesIn(reading.device.text).filter((name) => !hardRanges.has(name)) : []
  if (strange.length > 0) {
    trusts.push(
      `that nothing which was signed as ${strange.join(', ')} was left out: this verifier does not know such a value`,
    )
  }
  if (!/^0x0*$/.test(batch.beacon)) {
    trusts.push(
      `for "not before": that ${batch.beacon} is the hash of a block of the chain; the batch was sealed after it`,
    )
  }
  return trusts
}

/** Then the contract began at zero: there is nothing before it. */
const isFirst = ({ index, n_first: nFirst }) => index === 1 && nFirst.every((first) => first === 1)

function madeBy({ sensor_id: sensor, device }, isMade) {
  if (device === null) {
    return 'that the sensor sent it: it is not signed, so the operator could have made it up'
  }
  const key = `that the ${device.algorithm} key ${device.public_key}`
  return isMade
    ? `${key} is that of sensor ${sensor}: compare it with the keys that /v1/network/keys/${sensor} of the network's API lists, as you kept them`
    : `${key} signed it, and is that of sensor ${sensor}: the signature was not checked here`
}

const inWords = (reading, leaf) => {
  const names = leafVersions.get(leaf)
  const given =
    leaf === 1 ? names.map((name) => [name, reading[name]]) : valuesByName(reading.values)
  return {
    sensor_id: reading.sensor_id,
    timestamp: isoTime(reading.time_ms),
    seq: reading.seq,
    ...(leaf === 1 ? {} : { area: reading.area, flags: reading.flags }),
    ...Object.fromEntries(
      given.map(([name, value]) => [name, value === null ? null : value / 100]),
    ),
    aqi: reading.aqi,
  }
}

/** Of version 2, with those of version 1 in any case, as people read it. */
const valuesByName = (values) => {
  const names = leafVersions.get(2)
  const held = new Map(values)
  const ids = new Set([...basic.keys(), ...held.keys()])
  return [...ids].map((id) => [names[id] ?? `quantity ${id}`, held.get(id) ?? null])
}

/** Dates end in the year 275760; what is beyond them is no less proven. */
const isoTime = (ms) => (ms <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms after 1970`)

// --- on the command line ------------------------------------------------------------------------

const usage =
  'node airproof-verify.js FILE [--network FILE] [--block-hash 0x…] [--chain-id N] [--contract 0x…] [--rpc URL] [--json]'
const optionNames = {
  '--network': 'network',
  '--block-hash': 'trustedBlockHash',
  '--chain-id': 'chainId',
  '--contract': 'contract',
  '--rpc': 'rpc',
}

function readArguments(args) {
  const options = {}
  const files = []
  let isJson = false
  for (let at = 0; at < args.length; at++) {
    const name = optionNames[args[at]]
    if (args[at] === '--json') isJson = true
    else if (name !== undefined && at + 1 < args.length) options[name] = args[++at]
    else if (args[at].startsWith('-')) return undefined
    else files.push(args[at])
  }
  return files.length === 1 ? { file: files[0], options, isJson } : undefined
}

/** A bundle's check in words, as the command prints it. */
export function describe({ ok, checks, notAsked, demonstration, proves, trusts, reading }) {
  const lines = checks.map(({ name, ok: holds, why }) => `${holds ? '✓' : '✗'} ${name}: ${why}`)
  if (!ok) return [...lines, '', 'REFUSED'].join('\n')
  const values = Object.entries(reading).map(
    ([name, value]) => `  ${name}: ${value ?? 'not measured'}`,
  )
  return [
    ...lines,
    ...notAsked.map(({ name, why }) => `– ${name}, not asked: ${why}`),
    '',
    `PROVEN${demonstration ? ', ON A DEMONSTRATION CHAIN' : ''}.`,
    ...proves.map((words) => `  - ${words}`),
    ...values,
    '',
    'Taken on trust:',
    ...trusts.map((trust) => `  - ${trust}`),
  ].join('\n')
}

/** A terminal obeys control characters, and a refused file may hold any: written as JSON has them. */
const shown = (text) =>
  text.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    // half by half, as JSON does
    (found) =>
      found.replace(/[^]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )

async function runAsCommand() {
  if (typeof process === 'undefined' || !process.argv?.[1]) return
  // by name, so that no bundler for browsers looks for them
  const [fs, url] = ['node:fs', 'node:url']
  const { readFileSync, realpathSync } = await import(/* @vite-ignore */ fs)
  const { pathToFileURL } = await import(/* @vite-ignore */ url)
  try {
    if (pathToFileURL(realpathSync(process.argv[1])).href !== import.meta.url) return
  } catch {
    return
  }
  const args = readArguments(process.argv.slice(2))
  if (args === undefined) {
    console.error(usage)
    process.exitCode = 2
    return
  }
  let bytes
  const { network, ...options } = args.options
  try {
    bytes = readFileSync(args.file)
    if (network !== undefined) options.network = readNetwork(readFileSync(network, 'utf8'))
  } catch (error) {
    console.error(shown(error.message))
    process.exitCode = 2
    return
  }
  const result = await verifyFile(bytes, options)
  console.log(shown(args.isJson ? JSON.stringify(result, undefined, 2) : describe(result)))
  process.exitCode = result.ok ? 0 : 1
}

/** As `verifyBundle`, from the bytes of a file. */
export async function verifyFile(bytes, options = {}) {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return verifyBundle('not UTF-8', options)
  }
  return verifyBundle(text, options)
}

void runAsCommand()
