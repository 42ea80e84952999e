import type { KeccakSlots } from '../../core/proof/slots.ts'
import { blockBytes, hashBytes, hashPairsIn, messagesFrom } from './keccak-pairs.ts'

/** With the padding, which has at least one byte. */
const blocksOf = (length: number): number => Math.floor(length / blockBytes) + 1

const pageBytes = 65_536

/** In a memory of its own, which is free again when no one uses the slots. */
export const keccakSlots: KeccakSlots = ({ count, messageBytes }) => {
  const blocks = blocksOf(messageBytes)
  const slotBytes = blocks * blockBytes
  const even = count + (count % 2)
  const hashesFrom = messagesFrom + even * slotBytes
  const initial = Math.ceil((hashesFrom + even * hashBytes) / pageBytes)
  const memory = new WebAssembly.Memory({ initial })
  const hashPairs = hashPairsIn(memory)
  const bytes = new Uint8Array(memory.buffer, messagesFrom, even * slotBytes)
  return {
    bytes,
    slotBytes,
    end: (slot, length) => {
      if (blocksOf(length) !== blocks)
        throw new RangeError(`${length} bytes are not ${blocks} blocks`)
      const [from, to] = [slot * slotBytes, (slot + 1) * slotBytes]
      bytes.fill(0, from + length, to)
      bytes[from + length] = 0x01
      bytes[to - 1] = (bytes[to - 1] ?? 0) | 0x80
    },
    hash: (many) => {
      if (!(many >= 1 && many <= count)) throw new RangeError(`${many} of ${count} slots`)
      hashPairs(messagesFrom, slotBytes, blocks, Math.ceil(many / 2), hashesFrom)
      return new Uint8Array(memory.buffer, hashesFrom, many * hashBytes)
    },
  }
}
