/**
 * Rows of sensors in the order of their ids. Changes wait until the order is asked for, and are then
 * merged in one pass, however many there are.
 */
export class SortedRows {
  readonly #compare: (row: number, other: number) => number
  #rows = new Uint32Array()
  readonly #added = new Set<number>()
  readonly #removed = new Set<number>()
  #version = 0

  constructor(compare: (row: number, other: number) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#rows.length + this.#added.size - this.#removed.size
  }

  /** Counts up with every change of what `all` returns. */
  get version(): number {
    this.all()
    return this.#version
  }

  /** @param row that is not there */
  add(row: number): void {
    if (!this.#removed.delete(row)) this.#added.add(row)
  }

  /** @param row that is there */
  remove(row: number): void {
    if (!this.#added.delete(row)) this.#removed.add(row)
  }

  /** Not to be kept: it is replaced after a change. */
  all(): Uint32Array {
    if (this.#added.size + this.#removed.size === 0) return this.#rows
    const stay =
      this.#removed.size === 0 ? this.#rows : this.#rows.filter((row) => !this.#removed.has(row))
    this.#rows = this.#merged(stay, [...this.#added].sort(this.#compare))
    this.#added.clear()
    this.#removed.clear()
    this.#version++
    return this.#rows
  }

  #merged(rows: Uint32Array<ArrayBuffer>, added: readonly number[]): Uint32Array<ArrayBuffer> {
    const merged = new Uint32Array(rows.length + added.length)
    let [from, at] = [0, 0]
    for (const row of added) {
      const until = firstWhere(rows, (other) => this.#compare(other, row) > 0, from)
      merged.set(rows.subarray(from, until), at)
      at += until - from
      merged[at++] = row
      from = until
    }
    merged.set(rows.subarray(from), at)
    return merged
  }
}

/** The first place of rows that are all after it once one is; their number if none is. */
export function firstWhere(rows: Uint32Array, isAfter: (row: number) => boolean, from = 0): number {
  let [low, high] = [from, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAfter(rows[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}
