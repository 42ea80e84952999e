import type { Reading } from '../../core/air/reading.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import {
  fixedJson,
  type HashOf,
  type OnChainOf,
  readingJson,
  type Shape,
  shaped,
} from './reading-json.ts'

export type ReadingTexts = {
  readonly hashOf: HashOf
  readonly onChainOf: OnChainOf
  /** The JSON of a reading; what never changes of it is made once for as long as it is kept. */
  readonly textOf: (reading: Reading, shape: Shape) => string
}

/** A hash is seven rounds of keccak, so those of readings kept in memory are kept with them. */
export function createReadingTexts(keccak: Keccak, onChainOf: OnChainOf): ReadingTexts {
  const encode = leafEncoder(keccak)
  const hashes = new WeakMap<Reading, string>()
  const beginnings = new WeakMap<Reading, string>()
  const hashOf: HashOf = (reading) => {
    let hash = hashes.get(reading)
    if (hash === undefined) {
      hash = `0x${Buffer.from(encode(reading)).toString('hex')}`
      hashes.set(reading, hash)
    }
    return hash
  }
  /** Up to where the chain comes in, which is what may be another at the next request. */
  const beginningOf = (reading: Reading): string => {
    let text = beginnings.get(reading)
    if (text === undefined) {
      text = `${JSON.stringify(fixedJson(reading)).slice(0, -1)},"blockchain":{"hash":"${hashOf(reading)}",`
      beginnings.set(reading, text)
    }
    return text
  }
  return {
    hashOf,
    onChainOf,
    textOf: (reading, shape) => {
      if (shape !== 'full')
        return JSON.stringify(shaped(readingJson(reading, hashOf, onChainOf), shape))
      const { verified, tx_hash, status } = onChainOf(reading)
      const tx = tx_hash === null ? 'null' : `"${tx_hash}"`
      return `${beginningOf(reading)}"verified":${verified},"tx_hash":${tx},"status":"${status}"},"blockchain_tx":${tx}}`
    },
  }
}
