/**
 * Rows of sensors in the order of their ids. Changes wait until the order is asked for, or there are as many as
 * rows, and are then merged in one pass.
 */
/** Changes that wait, if there are not more rows. */
const mostWaiting = 1_024

export class SortedRows {
  readonly #compare: (row: number, other: number) => number
  readonly #has: (row: number) => boolean
  #rows = new Uint32Array()
  /** Came or went since; some more than once. */
  #changed: number[] = []
  #version = 0

  /** @param has whether a row is there now */
  constructor(compare: (row: number, other: number) => number, has: (row: number) => boolean) {
    this.#compare = compare
    this.#has = has
  }

  get size(): number {
    return this.all().length
  }

  /** Counts up with every change of what `all` returns. */
  get version(): number {
    this.all()
    return this.#version
  }

  /** The row came or went. */
  changed(row: number): void {
    this.#changed.push(row)
    if (this.#changed.length > Math.max(mostWaiting, this.#rows.length)) this.all()
  }

  /** Not to be kept: it is replaced after a change. */
  all(): Uint32Array {
    if (this.#changed.length === 0) return this.#rows
    this.#rows = this.#merged(this.#rows, this.#changed.sort(this.#compare))
    this.#changed = []
    this.#version++
    return this.#rows
  }

  #merged(rows: Uint32Array<ArrayBuffer>, changed: readonly number[]): Uint32Array<ArrayBuffer> {
    const merged = new Uint32Array(rows.length + changed.length)
    let [from, at, last] = [0, 0, -1]
    for (const row of changed) {
      if (row === last) continue
      const until = this.#placeOf(row, rows, from)
      merged.set(rows.subarray(from, until), at)
      at += until - from
      if (this.#has(row)) merged[at++] = row
      from = rows[until] === row ? until + 1 : until
      last = row
    }
    merged.set(rows.subarray(from), at)
    return merged.subarray(0, at + rows.length - from)
  }

  /** In steps that double, since of many changes the next is near. */
  #placeOf(row: number, rows: Uint32Array, from: number): number {
    const isReached = (other: number): boolean => this.#compare(other, row) >= 0
    let [low, step] = [from, 1]
    for (; low + step < rows.length && !isReached(rows[low + step] ?? 0); step *= 2) low += step
    return firstWhere(rows, isReached, low, Math.min(low + step, rows.length))
  }
}

/** The first place of rows that are all after it once one is; their number if none is. */
export function firstWhere(
  rows: Uint32Array,
  isAfter: (row: number) => boolean,
  from = 0,
  until = rows.length,
): number {
  let [low, high] = [from, until]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAfter(rows[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}
