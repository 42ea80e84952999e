/**
 * Messages that are hashed together, which costs a third of hashing them one by one. Each is written
 * into a slot of its own, and ended there.
 */
export type Slots = {
  /** Slot `n` begins at `n * slotBytes`. */
  readonly bytes: Uint8Array
  readonly slotBytes: number
  /**
   * Says how long the slot's message is, and overwrites the rest of the slot. Again for each message,
   * unless as many bytes were there before.
   * @throws RangeError where it has not as many blocks of Keccak as the others
   */
  readonly end: (slot: number, length: number) => void
  /**
   * Keccak-256 of the messages in the first `count` slots, 32 bytes each. The slots stay as they are; the
   * result is valid until the next call. @throws RangeError
   */
  readonly hash: (count: number) => Uint8Array
}

/** @param size how many messages, and how long one of them is: all have as many blocks of 136 bytes as it */
export type KeccakSlots = (size: { readonly count: number; readonly messageBytes: number }) => Slots
