/**
 * Seals again what was sealed for a former contract. A new contract that goes on after batch N has a
 * head of its own, and so has every batch after N: prevHead, header hash and head are others. What the
 * batches hold stays: range, leaves, root, numbers, times. So their blobs stay too, and need no log.
 *
 *     N is the last final one ──▶ for each batch after N, in order: its transaction and its anchor are
 *     forgotten ──▶ `header.<index>` is replaced
 *
 * This comes before anything is sealed or sent for the new contract. Each step is repeated after a crash,
 * because a batch's header is replaced last, and says which contract it was sealed for. Two processes
 * at once write the same. What a slow one still finds of the former contract it has read before the old
 * header, so it is deleted or replaced at that revision only: the sender of the new contract writes
 * later, and nothing of it is lost.
 */
import type { KV, KvEntry } from '@nats-io/kv'
import type { Hex } from '../core/hex.ts'
import type { BatchEnd } from '../core/proof/batch.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { MustAct } from '../runtime/exit.ts'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import { jsonOf } from '../runtime/nats/read-entry.ts'
import {
  anchoredKey,
  checkedKey,
  headerKey,
  parseChecked,
  parseSealed,
  type SealedBatch,
  sealedEntry,
  sealedOf,
} from '../schemas/anchoring/batch-record.ts'
import { type AnyDeployment, isForFormer } from '../schemas/anchoring/deployments.ts'
import type { SealedBatches } from './sealed-batches.ts'
import { entryKey, openJournal } from './send/journal.ts'

export type SealAgainOptions = {
  readonly keccak: Keccak
  readonly batches: Pick<SealedBatches, 'barrier' | 'get' | 'last'>
  /** Bucket `batches`, as `batches` has it in memory. */
  readonly records: KV
  /** Bucket `anchoring`. */
  readonly journal: KV
  /** Every contract, in the order that they were made: the newest is worked on. */
  readonly deployments: readonly AnyDeployment[]
  /** Where the newest contract begins. */
  readonly start: BatchEnd
}

type Again = { readonly former: SealedBatch; readonly sealed: SealedBatch }

/** @returns how many batches this process sealed again @throws MustAct, Overtaken */
export async function sealAgain(options: SealAgainOptions): Promise<number> {
  await options.batches.barrier()
  const [first, ...others] = againOf(options)
  if (first === undefined) return 0
  await goBack(first, options)
  let replaced = 0
  for (const one of [first, ...others]) if (await replace(one, options)) replaced++
  return replaced
}

/** What is to be sealed again, in order. @throws MustAct a batch cannot be in the contract */
function againOf({ keccak, batches, deployments, start }: SealAgainOptions): Again[] {
  const contract = deployments.at(-1)?.contract
  const all: Again[] = []
  let prevHead: Hex = start.head
  for (let index = start.index + 1; index <= batches.last(); index++) {
    const former = batches.get(index)
    if (former === undefined) break
    if (start.version === 2 && former.header.version !== 2)
      throw new MustAct(
        `batch ${index} holds readings of before format level 3, and the contract in use cannot: it begins too early; see docs/chain.md, "Batches of version 1"`,
      )
    const isAgain = isForFormer(former, deployments)
    const sealed = isAgain ? sealedOf({ ...former.header, prevHead }, keccak, contract) : former
    if (isAgain) all.push({ former, sealed })
    prevHead = sealed.head
  }
  return all
}

/** Nothing after the batch that the new contract goes on from is final any more. */
async function goBack(
  first: Again,
  { batches, records, journal, keccak, start }: SealAgainOptions,
): Promise<void> {
  const { final, putFinal } = openJournal(journal, keccak)
  const { value: lastFinal = 0, revision } = await final()
  const entry = await records.get(checkedKey)
  if ((await formerHeader(first, records)) === undefined) return
  if (lastFinal > start.index) await putFinal(start.index, revision)
  const checked = parseChecked(jsonOf(entry))
  if (entry === null || checked === undefined || checked.index <= start.index) return
  // a head that was checked vouches for every batch before it
  const head = batches.get(start.index)?.head
  await (head === undefined
    ? remove(records, entry)
    : replaceEntry(records, entry, { ...checked, index: start.index, head }))
}

/** @returns false where another process has done it */
async function replace(
  { former, sealed }: Again,
  { records, journal }: SealAgainOptions,
): Promise<boolean> {
  const { index } = sealed.header
  const sent = await journal.get(entryKey(index))
  const anchored = await records.get(anchoredKey(index))
  const header = await formerHeader({ former, sealed }, records)
  if (header === undefined) return false
  await remove(journal, sent)
  await remove(records, anchored)
  return await replaceEntry(records, header, sealedEntry(sealed))
}

/** undefined: the batch is sealed again already. */
async function formerHeader({ former }: Again, records: KV): Promise<KvEntry | undefined> {
  const entry = await records.get(headerKey(former.header.index))
  return entry !== null && parseSealed(jsonOf(entry))?.head === former.head ? entry : undefined
}

async function remove(kv: KV, entry: KvEntry | null): Promise<void> {
  if (entry?.operation !== 'PUT') return
  await unlessOvertaken(kv.delete(entry.key, { previousSeq: entry.revision }))
}

const replaceEntry = async (kv: KV, { key, revision }: KvEntry, value: object): Promise<boolean> =>
  (await unlessOvertaken(kv.put(key, JSON.stringify(value), { previousSeq: revision }))) !==
  'overtaken'
