import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { Reading } from '../../core/air/reading.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import { fixedJson, type HashOf, type OnChainOf, type Proofs, readingJson } from './reading-json.ts'
import type { View } from './view.ts'

export type ReadingTexts = Proofs & {
  /**
   * The JSON of a reading; the part that never changes is made once and cached with the reading.
   */
  readonly textOf: (reading: Reading, view: View) => string
}

/** A hash is seven rounds of keccak, so the hashes of cached readings are cached with them. */
export function createReadingTexts(keccak: Keccak, onChainOf: OnChainOf): ReadingTexts {
  const encode = leafEncoder(keccak)
  const hashes = new WeakMap<Reading, string>()
  const hashOf: HashOf = (reading) => {
    let hash = hashes.get(reading)
    if (hash === undefined) {
      hash = `0x${Buffer.from(encode(reading)).toString('hex')}`
      hashes.set(reading, hash)
    }
    return hash
  }
  /** By both arguments: each index gives the same reading other values. */
  const beginnings = new WeakMap<AirIndex, WeakMap<Reading, string>>()
  /** Up to the chain's part, which may differ at the next request. */
  const beginningOf = (reading: Reading, index: AirIndex): string => {
    let ofIndex = beginnings.get(index)
    if (ofIndex === undefined) beginnings.set(index, (ofIndex = new WeakMap()))
    let text = ofIndex.get(reading)
    if (text === undefined) {
      text = `${JSON.stringify(fixedJson(reading, index)).slice(0, -1)},"blockchain":{"hash":"${hashOf(reading)}",`
      ofIndex.set(reading, text)
    }
    return text
  }
  const proofs = { hashOf, onChainOf }
  return {
    ...proofs,
    textOf: (reading, view) => {
      if (view.shape !== 'full') return JSON.stringify(readingJson(reading, view, proofs))
      const { verified, tx_hash, status } = onChainOf(reading)
      const tx = tx_hash === null ? 'null' : `"${tx_hash}"`
      return `${beginningOf(reading, view.index)}"verified":${verified},"tx_hash":${tx},"status":"${status}"},"blockchain_tx":${tx}}`
    },
  }
}
