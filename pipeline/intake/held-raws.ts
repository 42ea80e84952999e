import type { RawMessage } from './raw-message.ts'

export type RawBatch = readonly RawMessage[]

/** A batch is full at this many messages, or this many bytes. */
export const batchMessages = 2_000
const batchBytes = 1024 * 1024

/** Raw messages that were pulled and are in no batch yet, in order. */
export class HeldRaws {
  #messages: RawMessage[] = []
  #bytes = 0

  get count(): number {
    return this.#messages.length
  }

  get bytes(): number {
    return this.#bytes
  }

  push(raw: RawMessage): void {
    this.#messages.push(raw)
    this.#bytes += raw.data.length
  }

  isFull(): boolean {
    return this.#messages.length >= batchMessages || this.#bytes >= batchBytes
  }

  /** Takes a batch out: the first messages, at least one of them however large it is. */
  cut(): RawBatch {
    let bytes = 0
    let count = 0
    for (const { data } of this.#messages) {
      if (count === batchMessages || (count > 0 && bytes + data.length > batchBytes)) break
      bytes += data.length
      count++
    }
    const batch = this.#messages.slice(0, count)
    this.#messages = this.#messages.slice(count)
    this.#bytes -= bytes
    return batch
  }
}
