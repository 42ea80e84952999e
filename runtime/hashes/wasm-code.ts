/**
 * Pieces of a WebAssembly module, as bytes: the few instructions that we write code of.
 * @see https://webassembly.github.io/spec/core/binary/
 */

export type Code = readonly number[]

/** LEB128, of a number that is not negative. */
const unsigned = (value: number): Code =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]

/** LEB128 with a sign. */
function signed(value: number): Code {
  const [byte, rest] = [value & 0x7f, value >> 7]
  const isLast = rest === (byte & 0x40 ? -1 : 0)
  return isLast ? [byte] : [byte | 0x80, ...signed(rest)]
}

const vector =
  (opcode: number, ...rest: Code) =>
  (...operands: Code[]): Code => [...operands.flat(), 0xfd, ...unsigned(opcode), ...rest]

/** Numbers of 32 bits. */
export const i32 = {
  of: (value: number): Code => [0x41, ...signed(value)],
  add: (a: Code, b: Code): Code => [...a, ...b, 0x6a],
  subtract: (a: Code, b: Code): Code => [...a, ...b, 0x6b],
  isBelow: (a: Code, b: Code): Code => [...a, ...b, 0x49],
}

/** Registers of 128 bits, which hold two numbers of 64: `low` of place 0, `high` of place 1. */
export const v128 = {
  zero: vector(0x0c, ...Array.from({ length: 16 }, () => 0))(),
  xor: vector(0x51),
  or: vector(0x50),
  /** Of a, where b is not. */
  andNot: vector(0x4f),
  /** By a number of bits, which is an operand. */
  shiftLeft: vector(0xcb, 0x01),
  shiftRight: vector(0xcd, 0x01),
  /** The same number in both places. */
  loadTwice: (address: Code, offset: number): Code => vector(0x0a, 3, ...unsigned(offset))(address),
  /** Zero in the high place. */
  loadLow: (address: Code, offset: number): Code => vector(0x5d, 3, ...unsigned(offset))(address),
  /** The low place stays as it is in `value`. */
  loadHigh: (address: Code, offset: number, value: Code): Code =>
    vector(0x57, 3, ...unsigned(offset), 1)(address, value),
  storeLow: (address: Code, offset: number, value: Code): Code =>
    vector(0x5b, 3, ...unsigned(offset), 0)(address, value),
  storeHigh: (address: Code, offset: number, value: Code): Code =>
    vector(0x5b, 3, ...unsigned(offset), 1)(address, value),
}

export const local = {
  get: (index: number): Code => [0x20, ...unsigned(index)],
  set: (index: number, value: Code): Code => [...value, 0x21, ...unsigned(index)],
  /** Sets it, and is its value. */
  tee: (index: number, value: Code): Code => [...value, 0x22, ...unsigned(index)],
}

/** Runs at least once, and again for as long as `condition` is not zero at the end. */
export const repeatWhile = (body: Code, condition: Code): Code => [
  0x03,
  0x40,
  ...body,
  ...condition,
  0x0d,
  0,
  0x0b,
]

const type = { i32: 0x7f, v128: 0x7b } as const

type Program = {
  /** Each is a number of 32 bits: locals 0, 1, … */
  readonly parameters: number
  /** The next locals. */
  readonly numbers: number
  /** Locals after them. */
  readonly vectors: number
  readonly body: Code
}

/** A module with one function, `run`, which returns nothing, and works on an imported `env.memory`. */
export function moduleOf({ parameters, numbers, vectors, body }: Program): Uint8Array<ArrayBuffer> {
  const name = (text: string): Code => [text.length, ...Buffer.from(text)]
  const sized = (code: Code): Code => [...unsigned(code.length), ...code]
  const section = (id: number, content: Code): Code => [id, ...sized([1, ...content])]
  const locals = [2, ...unsigned(numbers), type.i32, ...unsigned(vectors), type.v128]
  return Uint8Array.from([
    ...Buffer.from('\0asm\x01\0\0\0'),
    // types: of the function
    ...section(1, [0x60, parameters, ...Array.from({ length: parameters }, () => type.i32), 0]),
    // imports: a memory of one page or more
    ...section(2, [...name('env'), ...name('memory'), 2, 0, 1]),
    ...section(3, [0]),
    ...section(7, [...name('run'), 0, 0]),
    ...section(10, sized([...locals, ...body, 0x0b])),
  ])
}
