/**
 * Keccak-256 of messages two by two, as a WebAssembly module: a register of 128 bits holds the same
 * lane of both states, so a permutation of two costs about as much as one. The module is made from what
 * follows when it is first needed. `test/unit/keccak-slots.test.ts` compares it with another one.
 * @see https://keccak.team/keccak_specs_summary.html for the names of the steps
 */
import { type Code, i32, local, moduleOf, repeatWhile, v128 } from './wasm-code.ts'

/** What a permutation takes in of a message. */
export const blockBytes = 136
export const hashBytes = 32
const laneBytes = 8

const roundConstants = [
  0x0000000000000001n,
  0x0000000000008082n,
  0x800000000000808an,
  0x8000000080008000n,
  0x000000000000808bn,
  0x0000000080000001n,
  0x8000000080008081n,
  0x8000000000008009n,
  0x000000000000008an,
  0x0000000000000088n,
  0x0000000080008009n,
  0x000000008000000an,
  0x000000008000808bn,
  0x800000000000008bn,
  0x8000000000008089n,
  0x8000000000008003n,
  0x8000000000008002n,
  0x8000000000000080n,
  0x000000000000800an,
  0x800000008000000an,
  0x8000000080008081n,
  0x8000000000008080n,
  0x0000000080000001n,
  0x8000000080008008n,
]
const constantsBytes = roundConstants.length * laneBytes

/** By which bits each lane is rotated; lane (x, y) is x + 5y. */
const rotations = [
  [0, 1, 62, 28, 27],
  [36, 44, 6, 55, 20],
  [3, 10, 43, 25, 39],
  [41, 45, 15, 21, 8],
  [18, 2, 61, 56, 14],
].flat()

/** One at a time was a sixth slower, and all 24 a third. */
const roundsInARow = 4

const five = [0, 1, 2, 3, 4]
const lane = (x: number, y: number): number => (x % 5) + 5 * (y % 5)

/** Its parameters, then its other numbers. */
const at = {
  from: 0,
  /** From a message to the next. */
  stride: 1,
  blocks: 2,
  pairs: 3,
  to: 4,
  blockA: 5,
  blockB: 6,
  blocksLeft: 7,
  constant: 8,
} as const
const parameters = 5
const numbers = 9
/** Its registers. */
const state = (lane: number): number => numbers + lane
const moved = (lane: number): number => numbers + 25 + lane
const column = (x: number): number => numbers + 50 + (x % 5)
const effect = numbers + 55
const rotated = numbers + 56
const vectors = 57

const { get, set, tee } = local

function rotate(value: Code, bits: number): Code {
  if (bits === 0) return value
  const left = v128.shiftLeft(tee(rotated, value), i32.of(bits))
  return v128.or(left, v128.shiftRight(get(rotated), i32.of(64 - bits)))
}

/** θ, ρ and π into `moved`, then χ and ι back into `state`. */
const round = (n: number): Code => [
  ...five.flatMap((x) =>
    set(
      column(x),
      five.map((y) => get(state(lane(x, y)))).reduce((a, b) => v128.xor(a, b)),
    ),
  ),
  ...five.flatMap((x) => [
    ...set(effect, v128.xor(get(column(x + 4)), rotate(get(column(x + 1)), 1))),
    ...five.flatMap((y) => {
      const from = lane(x, y)
      const value = rotate(v128.xor(get(state(from)), get(effect)), rotations[from] ?? 0)
      return set(moved(lane(y, 2 * x + 3 * y)), value)
    }),
  ]),
  ...five.flatMap((y) =>
    five.flatMap((x) => {
      const [a, b, c] = [x, x + 1, x + 2].map((place) => get(moved(lane(place, y))))
      const mixed = v128.xor(a ?? [], v128.andNot(c ?? [], b ?? []))
      const constant = v128.loadTwice(get(at.constant), n * laneBytes)
      return set(state(lane(x, y)), x === 0 && y === 0 ? v128.xor(mixed, constant) : mixed)
    }),
  ),
]

const add = (index: number, value: Code): Code => set(index, i32.add(get(index), value))
const oneLess = (index: number): Code => tee(index, i32.subtract(get(index), i32.of(1)))

const permutation: Code = [
  ...set(at.constant, i32.of(0)),
  ...repeatWhile(
    Array.from({ length: roundsInARow }, (_, n) => round(n)).flat(),
    i32.isBelow(
      tee(at.constant, i32.add(get(at.constant), i32.of(roundsInARow * laneBytes))),
      i32.of(constantsBytes),
    ),
  ),
]

const absorbBlock: Code = [
  ...Array.from({ length: blockBytes / laneBytes }, (_, n) => {
    const both = v128.loadLow(get(at.blockA), n * laneBytes)
    const block = v128.loadHigh(get(at.blockB), n * laneBytes, both)
    return set(state(n), v128.xor(get(state(n)), block))
  }).flat(),
  ...permutation,
  ...add(at.blockA, i32.of(blockBytes)),
  ...add(at.blockB, i32.of(blockBytes)),
]

const hashPair: Code = [
  ...Array.from({ length: 25 }, (_, n) => set(state(n), v128.zero)).flat(),
  ...set(at.blockA, get(at.from)),
  ...set(at.blockB, i32.add(get(at.from), get(at.stride))),
  ...set(at.from, i32.add(get(at.blockB), get(at.stride))),
  ...set(at.blocksLeft, get(at.blocks)),
  ...repeatWhile(absorbBlock, oneLess(at.blocksLeft)),
  ...Array.from({ length: hashBytes / laneBytes }, (_, n) => [
    ...v128.storeLow(get(at.to), n * laneBytes, get(state(n))),
    ...v128.storeHigh(get(at.to), n * laneBytes + hashBytes, get(state(n))),
  ]).flat(),
  ...add(at.to, i32.of(2 * hashBytes)),
]

/**
 * @param from where the first message is in the memory; the next one is `stride` after it
 * @param blocks of 136 bytes, padded, that each message has
 * @param pairs at least one
 * @param to where the hashes go, 32 bytes each
 */
export type HashPairs = (
  from: number,
  stride: number,
  blocks: number,
  pairs: number,
  to: number,
) => void

let compiled: WebAssembly.Module | undefined

/** @param memory its first 192 bytes are the function's; two functions may not share one */
export function hashPairsIn(memory: WebAssembly.Memory): HashPairs {
  compiled ??= new WebAssembly.Module(
    moduleOf({
      parameters,
      numbers: numbers - parameters,
      vectors,
      body: repeatWhile(hashPair, oneLess(at.pairs)),
    }),
  )
  const view = new DataView(memory.buffer)
  roundConstants.forEach((constant, n) => view.setBigUint64(n * laneBytes, constant, true))
  const { run } = new WebAssembly.Instance(compiled, { env: { memory } }).exports
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made above
  return run as HashPairs
}

/** Where messages may begin in the memory. */
export const messagesFrom = constantsBytes
