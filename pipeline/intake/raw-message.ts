/** What a sensor published, as its RAW stream holds it. */
export type RawMessage = {
  readonly seq: number
  /** When the broker stored it: ms since the epoch. */
  readonly arrivedMs: number
  /** The sensor, or the gateway, as the subject names it. */
  readonly sensor: string
  /** The operator sent it, not the sensor. */
  readonly isAgain: boolean
  readonly data: Uint8Array
}

export type RawBatch = readonly RawMessage[]

/** A batch is full at this many messages, whatever their bytes. */
export const batchMessages = 2_000

/** Finds what came in by its sequence; undefined where it is not at hand. */
export type RawsAtHand = (seq: number) => RawMessage | undefined

/** Over messages in the order of their sequences: few are ever looked up, so there is no map. */
export const rawsAtHand =
  (raws: readonly RawMessage[]): RawsAtHand =>
  (seq) => {
    let low = 0
    let high = raws.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((raws[middle]?.seq ?? 0) < seq) low = middle + 1
      else high = middle
    }
    const candidate = raws[low]
    return candidate?.seq === seq ? candidate : undefined
  }
