/** Which rows of sensors have a number, for short ids: chains by a hash of it, 4 bytes per row. */
const heads = 2 ** 16

export class NumberIndex {
  /** The first row of each chain + 1, and of each row the next one + 1; 0: none. */
  readonly #first = new Int32Array(heads)
  #next = new Int32Array()

  /** @param row that is not there yet; its id never changes */
  add(row: number, id: string): void {
    if (row >= this.#next.length) {
      const next = new Int32Array(Math.ceil((row + 1) * 1.5))
      next.set(this.#next)
      this.#next = next
    }
    const head = headOf(numberIn(id))
    this.#next[row] = this.#first[head] ?? 0
    this.#first[head] = row + 1
  }

  /** All with this number, and few others. */
  *near(number: string): IterableIterator<number> {
    for (let row = this.#first[headOf(number)] ?? 0; row !== 0; row = this.#next[row - 1] ?? 0)
      yield row - 1
  }
}

export const numberIn = (id: string): string => id.slice(id.lastIndexOf('-') + 1)

/** FNV-1a, folded. */
function headOf(number: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < number.length; i++) hash = Math.imul(hash ^ number.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (heads - 1)
}
