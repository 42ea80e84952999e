/**
 * Entries of a bucket as the bytes that the server has, one record after the other in a few large blocks: each
 * takes some 45 bytes beyond its own, and nothing that the garbage collector visits. A key keeps its row for as
 * long as the process lives, deleted or not, as the server keeps the mark of its deletion. An entry
 * that changes is written at the end; a block that is mostly former entries is emptied.
 *
 * A record is words of 4 bytes, little-endian, and is filled up to a whole word:
 *
 *     0 row · 1 length of the key (16 bits), what it is (2), shape of the value · 2 length of the value
 *     3, 4 revision (low, high) · 5, 6 when it was written, ms (low, high) · key, value
 *
 * These bytes are also those of an image of the bucket (`schemas/bucket-image.ts`), which has the shapes in its
 * head; the rows there mean nothing.
 */
import { endianness } from 'node:os'
import { EntryShapes, type TextShape } from './entry-shapes.ts'

/** `fine`: a value can be made of it · `refused`: none can · `deleted`: only its key is kept. */
export const entryKinds = ['fine', 'refused', 'deleted'] as const
export type EntryKind = (typeof entryKinds)[number]

export type PackedEntry = {
  readonly key: string
  readonly kind: EntryKind
  readonly revision: number
  readonly timeMs: number
  readonly value: Uint8Array
}

/** What `kindOf` asks for is made then: its key is a text, too. Valid during the call. */
export type RecordOfEntry = Omit<PackedEntry, 'value'> & { readonly text: () => string }

type PackedOptions = {
  /** Of the image that will be adopted. */
  readonly shapes?: readonly TextShape[]
  /** About how many there will be. */
  readonly rows?: number
}

type Block = {
  readonly bytes: Buffer
  readonly words: Uint32Array
  /** Words; so is `dead`. */
  used: number
  dead: number
}

const blockWords = 2 ** 20
const headWords = 7
const headBytes = headWords * 4
const firstRows = 1_024
/** The bytes of the key that `find` looks for, so that no look-up makes a buffer. */
const wanted = Buffer.alloc(256)
/** Slots of the table for each row, at least. */
const fill = 1.5
const low = 2 ** 32
/** A letter of a name in JSON may be written so. */
const escape = '\\u'

export class PackedEntries {
  readonly #blocks: (Block | undefined)[] = []
  /** The block that is being filled. */
  #tail = -1
  /** Of each row: where its record begins, in words from the first block on. */
  #places: Uint32Array
  /** Open addressing: the row of a key + 1, or 0. */
  #table: Int32Array
  #rows = 0
  #fine = 0
  readonly #shapes: EntryShapes

  constructor({ shapes = [], rows = 0 }: PackedOptions = {}) {
    if (endianness() !== 'LE') throw new Error('airproof does not run on big-endian processors')
    this.#shapes = new EntryShapes(shapes)
    this.#places = new Uint32Array(Math.max(rows, firstRows))
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(this.#places.length * fill)))
  }

  /** All rows, the deleted ones too. */
  get rows(): number {
    return this.#rows
  }

  get fine(): number {
    return this.#fine
  }

  get heldBytes(): number {
    const blocks = this.#blocks.filter((block) => block !== undefined).length
    return blocks * blockWords * 4 + this.#places.byteLength + this.#table.byteLength
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    const name = nameOf(key)
    const bytes = name.length > wanted.length ? Buffer.from(name, 'latin1') : wanted
    if (bytes === wanted) wanted.write(name, 'latin1')
    return this.#rowIn(this.#slotOf(bytes, 0, name.length))
  }

  set({ key, kind, revision, timeMs, value }: PackedEntry): void {
    this.#put(nameOf(key), { kind, revision, timeMs, value })
  }

  #put(name: string, { kind, revision, timeMs, value }: Omit<PackedEntry, 'key'>): void {
    const packed =
      kind === 'fine' ? this.#shapes.pack(value, name) : ({ shape: 0, bytes: value } as const)
    const length = wordsOf(name.length, packed.bytes.length)
    const { bytes, words, used: at } = this.#room(length)
    words[at + 1] = name.length + entryKinds.indexOf(kind) * 2 ** 16 + packed.shape * 2 ** 18
    words[at + 2] = packed.bytes.length
    words[at + 3] = revision % low
    words[at + 4] = Math.floor(revision / low)
    words[at + 5] = timeMs % low
    words[at + 6] = Math.floor(timeMs / low)
    bytes.write(name, at * 4 + headBytes, 'latin1')
    bytes.set(packed.bytes, at * 4 + headBytes + name.length)
    this.#enter(length)
  }

  /**
   * Takes records as `records` returns them, of entries that have the same shapes.
   * @param kindOf what a record is to be here
   * @returns false: they are no records, and what was taken is of no use
   */
  adopt(records: Uint8Array, kindOf: (entry: RecordOfEntry) => EntryKind): boolean {
    if (records.length % 4 !== 0) return false
    const bytes = records.byteOffset % 4 === 0 ? records : new Uint8Array(records)
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    const arrived = this.#arrived()
    for (let at = 0, length = 0; at < words.length; at += length) {
      length = at + headWords < words.length ? lengthAt(words, at) : Infinity
      if (at + length > words.length || length > blockWords) return false
      if (kindAt(words, at) === undefined || shapeAt(words, at) > this.#shapes.size) return false
      const { words: to, used } = this.#room(length)
      for (let i = 0; i < length; i++) to[used + i] = words[at + i] ?? 0
      const kind = entryKinds.indexOf(kindOf(arrived))
      to[used + 1] = keyLengthAt(to, used) + kind * 2 ** 16 + shapeAt(to, used) * 2 ** 18
      this.#enter(length)
    }
    return true
  }

  /** The record at the end of the tail, whenever it is asked: one object for all. */
  #arrived(): RecordOfEntry {
    const tail = (): Block => this.#blocks[this.#tail] ?? newBlock()
    return {
      get key() {
        return keyAt(tail().bytes, tail().words, tail().used)
      },
      get kind() {
        return kindAt(tail().words, tail().used) ?? 'refused'
      },
      get revision() {
        return revisionAt(tail().words, tail().used)
      },
      get timeMs() {
        return timeMsAt(tail().words, tail().used)
      },
      text: () => this.#valueAt(tail(), tail().used).toString(),
    }
  }

  /** Of all records; more are added as others arrive. */
  get shapes(): readonly TextShape[] {
    return this.#shapes.list
  }

  /** Whole records, about `mostBytes` at a time: of each row as it is when the walk comes to it. */
  *records(mostBytes: number): IterableIterator<Uint8Array> {
    let gathered: Buffer[] = []
    let size = 0
    for (let row = 0; row < this.#rows; row++) {
      const { block, at } = this.#recordOf(row)
      const record = block.bytes.subarray(at * 4, (at + lengthAt(block.words, at)) * 4)
      gathered.push(record)
      size += record.length
      if (size < mostBytes) continue
      yield Buffer.concat(gathered)
      gathered = []
      size = 0
    }
    if (size > 0) yield Buffer.concat(gathered)
  }

  kindOf(row: number): EntryKind {
    const { block, at } = this.#recordOf(row)
    return kindAt(block.words, at) ?? 'refused'
  }

  keyOf(row: number): string {
    const { block, at } = this.#recordOf(row)
    return keyAt(block.bytes, block.words, at)
  }

  textOf(row: number): string {
    return this.#valueOf(row).toString()
  }

  /** The values of the text, if it has that skeleton: what is in its numbers, and between its quotes. */
  valuesOf(row: number, skeleton: string): readonly string[] | undefined {
    const { block, at } = this.#recordOf(row)
    if (this.#shapes.skeletonOf(shapeAt(block.words, at)) !== skeleton) return undefined
    const values = valueAt(block.bytes, block.words, at).toString().split('\0')
    for (let i = 0; i < values.length; i++)
      if (values[i] === '\u0001') values[i] = nameAt(block.bytes, block.words, at)
    return values
  }

  #valueOf(row: number): Buffer {
    const { block, at } = this.#recordOf(row)
    return this.#valueAt(block, at)
  }

  #valueAt({ bytes, words }: Block, at: number): Buffer {
    const packed = { shape: shapeAt(words, at), bytes: valueAt(bytes, words, at) }
    const text = this.#shapes.expand(packed, nameAt(bytes, words, at))
    return Buffer.from(text.buffer, text.byteOffset, text.length)
  }

  /** The order of two keys by their bytes: that of `<`, if they are ASCII. */
  compareKeys(row: number, other: number): number {
    const { block: one, at } = this.#recordOf(row)
    const { block: two, at: otherAt } = this.#recordOf(other)
    const [length, otherLength] = [keyLengthAt(one.words, at), keyLengthAt(two.words, otherAt)]
    const [from, otherFrom] = [at * 4 + headBytes, otherAt * 4 + headBytes]
    const shared = Math.min(length, otherLength)
    for (let i = 0; i < shared; i++) {
      const difference = (one.bytes[from + i] ?? 0) - (two.bytes[otherFrom + i] ?? 0)
      if (difference !== 0) return difference
    }
    return length - otherLength
  }

  timeMsOf(row: number): number {
    const { block, at } = this.#recordOf(row)
    return timeMsAt(block.words, at)
  }

  /**
   * The rows of entries that may hold a JSON field of that name: no other does. A name may also be written with
   * escapes. A look at each row, some 20 ms for a million entries.
   */
  rowsNaming(field: string): readonly number[] {
    const isNaming = (text: string): boolean => text.includes(`"${field}"`) || text.includes(escape)
    const rows: number[] = []
    const byShape = new Map<number, boolean>()
    for (let row = 0; row < this.#rows; row++) {
      const { block, at } = this.#recordOf(row)
      const shape = shapeAt(block.words, at)
      const skeleton = this.#shapes.skeletonOf(shape)
      if (skeleton === undefined) {
        if (isNaming(this.textOf(row))) rows.push(row)
        continue
      }
      let isOfShape = byShape.get(shape)
      if (isOfShape === undefined) byShape.set(shape, (isOfShape = isNaming(skeleton)))
      if (isOfShape) rows.push(row)
    }
    return rows
  }

  /** The slot of the key with these bytes: where its row is, or where it would be. */
  #slotOf(bytes: Buffer, from: number, length: number): number {
    const mask = this.#table.length - 1
    let slot = hashOf(bytes, from, length) & mask
    for (; ; slot = (slot + 1) & mask) {
      const row = this.#rowIn(slot)
      if (row === -1 || this.#isNamed(row, bytes, from, length)) return slot
    }
  }

  #rowIn(slot: number): number {
    return (this.#table[slot] ?? 0) - 1
  }

  #isNamed(row: number, bytes: Buffer, from: number, length: number): boolean {
    const { block, at } = this.#recordOf(row)
    if (keyLengthAt(block.words, at) !== length) return false
    const own = at * 4 + headBytes
    for (let i = 0; i < length; i++) if (block.bytes[own + i] !== bytes[from + i]) return false
    return true
  }

  #recordOf(row: number): { readonly block: Block; readonly at: number } {
    const place = this.#places[row] ?? 0
    const block = this.#blocks[Math.floor(place / blockWords)]
    if (block === undefined || row >= this.#rows) throw new RangeError(`there is no row ${row}`)
    return { block, at: place % blockWords }
  }

  /** The record at the end of the tail is that of its key from now on. */
  #enter(length: number): void {
    const block = this.#blocks[this.#tail]
    if (block === undefined) return
    const at = block.used
    block.used += length
    const { bytes, words } = block
    const slot = this.#slotOf(bytes, at * 4 + headBytes, keyLengthAt(words, at))
    const known = this.#rowIn(slot)
    const isNew = known === -1
    const row = isNew ? this.#rows++ : known
    this.#table[slot] = row + 1
    const former = isNew ? -1 : (this.#places[row] ?? 0)
    if (former !== -1 && this.kindOf(row) === 'fine') this.#fine--
    if (row >= this.#places.length) this.#places = grown(this.#places)
    words[at] = row
    this.#places[row] = this.#tail * blockWords + at
    if (kindAt(words, at) === 'fine') this.#fine++
    if (isNew && this.#rows * fill > this.#table.length) this.#growTable()
    if (former !== -1) this.#bury(former)
  }

  #growTable(): void {
    const table = new Int32Array(this.#table.length * 2)
    const mask = table.length - 1
    for (let row = 0; row < this.#rows; row++) {
      const { block, at } = this.#recordOf(row)
      let slot = hashOf(block.bytes, at * 4 + headBytes, keyLengthAt(block.words, at)) & mask
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = row + 1
    }
    this.#table = table
  }

  /** There is a former record. */
  #bury(place: number): void {
    const index = Math.floor(place / blockWords)
    const block = this.#blocks[index]
    if (block === undefined) return
    block.dead += lengthAt(block.words, place % blockWords)
    if (index !== this.#tail && isMostlyDead(block)) this.#empty(index, block)
  }

  #empty(index: number, { bytes, words, used }: Block): void {
    this.#blocks[index] = undefined
    for (let at = 0, length = 0; at < used; at += length) {
      length = lengthAt(words, at)
      const row = words[at] ?? 0
      if (this.#places[row] !== index * blockWords + at) continue
      const block = this.#room(length)
      block.bytes.set(bytes.subarray(at * 4, (at + length) * 4), block.used * 4)
      this.#places[row] = this.#tail * blockWords + block.used
      block.used += length
    }
  }

  /** The tail, once it has room for a record. */
  #room(length: number): Block {
    if (length > blockWords)
      throw new RangeError('an entry is larger than a message of NATS can be')
    let block = this.#blocks[this.#tail]
    while (block === undefined || block.used + length > blockWords) {
      const [former, full] = [this.#tail, block]
      const free = this.#blocks.indexOf(undefined)
      this.#tail = free === -1 ? this.#blocks.length : free
      block = newBlock()
      this.#blocks[this.#tail] = block
      if (full !== undefined && isMostlyDead(full)) this.#empty(former, full)
      block = this.#blocks[this.#tail]
    }
    return block
  }
}

function newBlock(): Block {
  const bytes = Buffer.allocUnsafeSlow(blockWords * 4)
  return { bytes, words: new Uint32Array(bytes.buffer), used: 0, dead: 0 }
}

const isMostlyDead = ({ dead }: Block): boolean => dead > blockWords / 2

const wordsOf = (key: number, value: number): number => headWords + Math.ceil((key + value) / 4)
const keyLengthAt = (words: Uint32Array, at: number): number => (words[at + 1] ?? 0) & 0xffff
const kindAt = (words: Uint32Array, at: number): EntryKind | undefined =>
  entryKinds[((words[at + 1] ?? 0) >>> 16) & 3]
const shapeAt = (words: Uint32Array, at: number): number => (words[at + 1] ?? 0) >>> 18
const lengthAt = (words: Uint32Array, at: number): number =>
  wordsOf(keyLengthAt(words, at), words[at + 2] ?? 0)
const revisionAt = (words: Uint32Array, at: number): number =>
  (words[at + 3] ?? 0) + (words[at + 4] ?? 0) * low
const timeMsAt = (words: Uint32Array, at: number): number =>
  (words[at + 5] ?? 0) + (words[at + 6] ?? 0) * low

const nameAt = (bytes: Buffer, words: Uint32Array, at: number): string => {
  const from = at * 4 + headBytes
  return bytes.toString('latin1', from, from + keyLengthAt(words, at))
}

const keyAt = (bytes: Buffer, words: Uint32Array, at: number): string => {
  const name = nameAt(bytes, words, at)
  return name.includes('%') ? decodeURIComponent(name) : name
}

const valueAt = (bytes: Buffer, words: Uint32Array, at: number): Buffer => {
  const from = at * 4 + headBytes + keyLengthAt(words, at)
  return bytes.subarray(from, from + (words[at + 2] ?? 0))
}

function grown(from: Uint32Array): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(Math.ceil(from.length * 1.5))
  to.set(from)
  return to
}

/** FNV-1a, with its high bits in the low ones too. */
function hashOf(bytes: Buffer, from: number, length: number): number {
  let hash = 0x811c9dc5
  for (let i = from; i < from + length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** A key as printable ASCII; that of a foreign writer may be any text. */
function nameOf(key: string): string {
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    if (code < 0x21 || code > 0x7e || code === percent) return encodeURIComponent(key)
  }
  return key
}
const percent = 0x25
