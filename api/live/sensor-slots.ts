/** Which slot of its partition's state a row of the registry has, and which row a slot. */
import { partitionCount } from '../../core/air/sensor-id.ts'

const unknown = -1

export class SensorSlots {
  #slots = new Int32Array()
  readonly #rows: Int32Array<ArrayBuffer>[] = Array.from(
    { length: partitionCount },
    () => new Int32Array(),
  )

  /** −1: it has none. */
  slotOf = (row: number): number => this.#slots[row] ?? unknown

  /** −1: not known. */
  rowAt = (partition: number, slot: number): number => this.#rows[partition]?.[slot] ?? unknown

  join(row: number, partition: number, slot: number): void {
    this.#slots = withRoom(this.#slots, row)
    this.#slots[row] = slot
    if (slot === unknown) return
    const rows = withRoom(this.#rows[partition] ?? new Int32Array(), slot)
    rows[slot] = row
    this.#rows[partition] = rows
  }

  clear(): void {
    this.#slots.fill(unknown)
    for (const rows of this.#rows) rows.fill(unknown)
  }
}

function withRoom(column: Int32Array<ArrayBuffer>, at: number): Int32Array<ArrayBuffer> {
  if (at < column.length) return column
  const grown = new Int32Array(Math.ceil((at + 1) * 1.2)).fill(unknown)
  grown.set(column)
  return grown
}
