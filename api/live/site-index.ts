/**
 * Which sensors are in a box. A k-d tree for each block of rows, made when it is first asked for, and again
 * after many sensors of its block have changed: until then those are looked at one by one. So a
 * change costs next to nothing, and no request waits for more than one pass over the trees.
 */
import KDBush from 'kdbush'
import type { Box } from './region.ts'

/** A tree of as many is made in some 15 ms. */
const blockRows = 2 ** 16
/** Changed rows of a block that are looked at one by one. */
const mostChanged = 1_024

type Block = { readonly tree: KDBush; readonly changed: Set<number> }

type Sites = {
  /** The others are nowhere. */
  readonly isInUse: (row: number) => boolean
  readonly latOf: (row: number) => number
  readonly lonOf: (row: number) => number
}

export class SiteIndex {
  readonly #sites: Sites
  readonly #blocks: (Block | undefined)[] = []
  #rows = 0

  constructor(sites: Sites) {
    this.#sites = sites
  }

  /** The row came, moved or went. */
  changed(row: number): void {
    this.#rows = Math.max(this.#rows, row + 1)
    this.#blocks[Math.floor(row / blockRows)]?.changed.add(row)
  }

  /** Rows in use that may be in the box: all that are, each once, and few others. */
  near(box: Box): readonly number[] {
    const rows: number[] = []
    for (let number = 0; number * blockRows < this.#rows; number++) {
      const { tree, changed } = this.#blockAt(number)
      for (const [west, east] of spansOf(box))
        for (const item of tree.range(west, box.south, east, box.north)) {
          const row = number * blockRows + item
          if (!changed.has(row)) rows.push(row)
        }
      for (const row of changed) if (this.#sites.isInUse(row)) rows.push(row)
    }
    return rows
  }

  #blockAt(number: number): Block {
    const known = this.#blocks[number]
    if (known !== undefined && known.changed.size <= mostChanged) return known
    const first = number * blockRows
    const tree = new KDBush(Math.min(blockRows, this.#rows - first))
    for (let row = first; row < first + tree.numItems; row++) {
      if (this.#sites.isInUse(row)) tree.add(this.#sites.lonOf(row), this.#sites.latOf(row))
      else tree.add(Infinity, Infinity)
    }
    const block = { tree: tree.finish(), changed: new Set<number>() }
    this.#blocks[number] = block
    return block
  }
}

/** Longitudes from −180 to 180: of a box across the antimeridian two spans. A hair wider, for rounding. */
function spansOf({ west, east }: Box): readonly (readonly [number, number])[] {
  if (east - west >= 360) return [[-180, 180]]
  const hair = 1e-9
  return [-360, 0, 360]
    .map((turn) => [west + turn - hair, east + turn + hair] as const)
    .filter(([from, to]) => to >= -180 && from <= 180)
}
