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
 *
 * A process of the former contract that hangs may go on at any time (`fence.ts`). So every entry that it
 * may be about to write gets another revision here, whether it holds anything or not: those of each batch
 * after N, `final`, `checked`, and the header of the batch after the last one. Where that one is there at
 * the end, it was sealed for the former contract meanwhile, and all is repeated for it.
 */
import type { KvEntry } from '@nats-io/kv'
import type { Hex } from '../core/hex.ts'
import type { BatchEnd } from '../core/proof/batch.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { MustAct } from '../runtime/exit.ts'
import { jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
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
import { type FencedBucket, overtaken } from './fence.ts'
import type { SealedBatches } from './sealed-batches.ts'
import { entryKey, openJournal } from './send/journal.ts'

export type SealAgainOptions = {
  readonly keccak: Keccak
  readonly batches: Pick<SealedBatches, 'barrier' | 'get' | 'last'>
  /** Bucket `batches`, as `batches` has it in memory. */
  readonly records: FencedBucket
  /** Bucket `anchoring`. */
  readonly journal: FencedBucket
  readonly proofs: FencedBucket
  /** Every contract, in the order that they were made: the newest is worked on. */
  readonly deployments: readonly AnyDeployment[]
  /** Where the newest contract begins. */
  readonly start: BatchEnd
}

type Again = { readonly former: SealedBatch; readonly sealed: SealedBatch }

/** @returns how many batches this process sealed again @throws MustAct, Overtaken, ContractChanged */
export async function sealAgain(options: SealAgainOptions): Promise<number> {
  const { batches, deployments } = options
  // no process can know of a former one
  if (deployments.length < 2) return 0
  let replaced = 0
  for (;;) {
    await batches.barrier()
    const all = againOf(options)
    await goBack(all[0], options)
    for (const one of all) if (await replace(one, options)) replaced++
    if (await endFormer(batches.last() + 1, options)) return replaced
  }
}

/** @returns false: the batch was sealed meanwhile. From then on none can be sealed for a former contract */
async function endFormer(index: number, { records }: SealAgainOptions): Promise<boolean> {
  const key = headerKey(index)
  const read = await records.get(key)
  if (parseSealed(jsonOf(read)) !== undefined) return false
  await records.clear(key, read)
  return true
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
async function goBack(first: Again | undefined, options: SealAgainOptions): Promise<void> {
  const { batches, records, journal, keccak, start } = options
  const { final, putFinal } = openJournal(journal, keccak)
  const { value: lastFinal = 0, revision } = await final()
  const entry = await records.get(checkedKey)
  const isAgain = first !== undefined && (await formerHeader(first, records)) !== undefined
  // what is right is written again, for its revision
  await putFinal(isAgain ? Math.min(lastFinal, start.index) : lastFinal, revision)
  const checked = parseChecked(jsonOf(entry))
  // a head that was checked vouches for every batch before it
  const head = batches.get(start.index)?.head
  const isRight = checked !== undefined && (!isAgain || checked.index <= start.index)
  if (entry === null || checked === undefined || (!isRight && head === undefined))
    return await records.clear(checkedKey, entry)
  const value = isRight || head === undefined ? checked : { ...checked, index: start.index, head }
  if (!(await replaceEntry(records, entry, value))) throw overtaken(checkedKey)
}

/** @returns false where another process has done it */
async function replace(
  { former, sealed }: Again,
  { records, journal, proofs }: SealAgainOptions,
): Promise<boolean> {
  const { index } = sealed.header
  const keys = [
    [journal, entryKey(index)],
    [records, anchoredKey(index)],
    [proofs, String(index)],
  ] as const
  const read = await Promise.all(keys.map(([bucket, key]) => bucket.get(key)))
  const header = await formerHeader({ former, sealed }, records)
  if (header === undefined) return false
  for (const [at, [bucket, key]] of keys.entries()) await bucket.clear(key, read[at] ?? null)
  return await replaceEntry(records, header, sealedEntry(sealed))
}

/** undefined: the batch is sealed again already. */
async function formerHeader(
  { former }: Again,
  records: FencedBucket,
): Promise<KvEntry | undefined> {
  const entry = await records.get(headerKey(former.header.index))
  return entry !== null && parseSealed(jsonOf(entry))?.head === former.head ? entry : undefined
}

const replaceEntry = async (
  kv: FencedBucket,
  { key, revision }: KvEntry,
  value: object,
): Promise<boolean> =>
  (await unlessOvertaken(kv.put(key, JSON.stringify(value), { previousSeq: revision }))) !==
  'overtaken'
