/**
 * The sender's memory, in bucket `anchoring`, each key changed by compare-and-swap only:
 *
 * | key | value |
 * |---|---|
 * | `tx.<index>` | `Entry`: the state of the batch's transaction, with every signed version |
 * | `pair.<writer>` | `Pair`: which nonce belongs to which batch |
 * | `final` | `{"index"}`: up to here every batch is final and reported |
 * | `stopped` | `Stopped`: sending waits for a person (`airproof anchor resync`) |
 * | `deployment`, `deployment.2` … | which contracts, on which chain (`schemas/anchoring/deployments.ts`) |
 *
 * All of it can be lost: it is then made again from the contract's events, and a value that cannot
 * be read counts as lost.
 */
import type { Hex } from '../../core/hex.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { asVersion1 } from '../../schemas/formats.ts'
import { type FencedBucket, overtaken } from '../fence.ts'
import type { Entry, Pair, Stopped } from './journal-entry.ts'
import { isEntry, isFinal, isPair, isStopped } from './journal-entry.ts'

export type Kept<T> = {
  /** undefined: there is none, or it cannot be read. */
  readonly value: T | undefined
  /** What the next write of the key must name. */
  readonly revision: number
}

/** Every `put…` is durable when it resolves. @throws Overtaken */
export type Journal = {
  readonly entry: (index: number) => Promise<Kept<Entry>>
  readonly putEntry: (entry: Entry, revision: number) => Promise<number>
  readonly pair: (writer: Hex) => Promise<Kept<Pair>>
  readonly putPair: (writer: Hex, pair: Pair, revision: number) => Promise<number>
  /** The next look at the chain makes another one. */
  readonly forgetPair: (writer: Hex) => Promise<void>
  /** The last batch that is final, 0 before the first. */
  readonly final: () => Promise<Kept<number>>
  readonly putFinal: (index: number, revision: number) => Promise<number>
  readonly stopped: () => Promise<Kept<Stopped>>
  readonly putStopped: (stopped: Stopped, revision: number) => Promise<number>
  readonly clearStopped: () => Promise<void>
  /** Forgets the transactions of batches that are not final: after a resync they are signed again. */
  readonly forgetEntries: (from: number, to: number) => Promise<void>
}

export const entryKey = (index: number): string => `tx.${index}`
const pairKey = (writer: Hex): string => `pair.${writer.toLowerCase()}`
const finalKey = 'final'
const stoppedKey = 'stopped'

/** @param kv bucket `anchoring`; of a command for one contract, without the fence */
export function openJournal(
  kv: Pick<FencedBucket, 'get' | 'put' | 'delete'>,
  keccak: Keccak,
): Journal {
  const read = async <T>(key: string, is: (value: unknown) => value is T): Promise<Kept<T>> => {
    const entry = await kv.get(key)
    if (entry === null) return { value: undefined, revision: 0 }
    if (entry.operation !== 'PUT') return { value: undefined, revision: entry.revision }
    const value = parse(key, entry.string())
    return { value: is(value) ? value : undefined, revision: entry.revision }
  }
  const write = async (key: string, value: unknown, revision: number): Promise<number> => {
    const write = kv.put(key, JSON.stringify(value), { previousSeq: revision })
    const written = await unlessOvertaken(write)
    if (written === 'overtaken') throw overtaken(key)
    return written
  }
  const remove = async (key: string): Promise<void> => {
    const entry = await kv.get(key)
    if (entry?.operation !== 'PUT') return
    const removed = await unlessOvertaken(kv.delete(key, { previousSeq: entry.revision }))
    if (removed === 'overtaken') throw overtaken(key)
  }
  return {
    entry: (index) =>
      read(entryKey(index), (value): value is Entry => isEntry(value, index, keccak)),
    putEntry: (entry, revision) => write(entryKey(entry.index), entry, revision),
    pair: (writer) => read(pairKey(writer), isPair),
    putPair: (writer, pair, revision) => write(pairKey(writer), pair, revision),
    // also where there is none: who read that writes too late then
    forgetPair: (writer) => kv.delete(pairKey(writer)),
    final: async () => {
      const { value, revision } = await read(finalKey, isFinal)
      return { value: value?.index, revision }
    },
    putFinal: (index, revision) => write(finalKey, { index }, revision),
    stopped: () => read(stoppedKey, isStopped),
    putStopped: (stopped, revision) => write(stoppedKey, stopped, revision),
    clearStopped: () => remove(stoppedKey),
    forgetEntries: async (from, to) => {
      for (let index = from; index <= to; index++) await remove(entryKey(index))
    },
  }
}

/** @throws NewerFormat a later version signed: what it wrote must not be signed again */
function parse(key: string, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return asVersion1('journal', value, `key ${key}`)
}
