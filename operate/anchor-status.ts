/** What is sealed, what is final on the chain, and what prevents more, as the anchor process records it. */

import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { secondMs } from '../core/time.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import {
  type AnchorAlarms,
  alarmsKey,
  anchoredKey,
  batchKey,
  checkedKey,
  headerKey,
  openKey,
  parseAlarms,
  parseAnchored,
  parseBoundary,
  parseChecked,
  parseOpen,
  parseSealed,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'
import { tasks } from '../schemas/system-keys.ts'
import { readNewestContract } from './newest-contract.ts'

export type AnchorStatus = {
  /** The last batch in a finalized block; null: there is none. */
  readonly last: {
    readonly batch: number
    /** The time of that block. */
    readonly anchored_at: string
  } | null
  /** Readings that are accepted, but in no such batch. */
  readonly not_anchored: number
  /** The chain of the contract in use; null: there is no contract yet. */
  readonly chain_id: number | null
  /** How many are sealed and how many are final, ever; `sent` of those between are on their way. */
  readonly batches: { readonly sealed: number; readonly sent: number; readonly final: number }
  /** How long ago the first one that is not final was sealed; null: all are final. */
  readonly oldest_seconds: number | null
  /** By the process that anchors, or did last. */
  readonly alarms: AnchorAlarms['alarms']
  /** Since when these; null: none was ever reported. */
  readonly alarms_since: string | null
  /** The process that anchors; null: none does. */
  readonly worker: string | null
}

/** @param accepted readings, ever */
export async function readAnchorStatus(
  nc: NatsConnection,
  accepted: number,
  nowMs = Date.now(),
): Promise<AnchorStatus> {
  const kvm = new Kvm(nc)
  const kv = await kvm.open(buckets.batches)
  const [checked, deployment, alarms, lease] = await Promise.all([
    valueOf(kv, checkedKey, parseChecked),
    readNewestContract(nc),
    valueOf(kv, alarmsKey, parseAlarms),
    kvm.open(buckets.leases).then((leases) => leases.get(tasks.anchor)),
  ])
  const index = checked?.index ?? 0
  const [sealed, anchored, backlog] = await Promise.all([
    valueOf(kv, headerKey(index), parseSealed),
    valueOf(kv, anchoredKey(index), parseAnchored),
    readBacklog(kv, index, nowMs),
  ])
  const rest = {
    chain_id: deployment?.chainId ?? null,
    ...backlog,
    alarms: alarms?.alarms ?? [],
    alarms_since: alarms?.since ?? null,
    worker: lease?.operation === 'PUT' ? lease.string() : null,
  }
  const isKnown = sealed !== undefined && anchored?.status === 'final'
  if (!isKnown || anchored.blockTimeS === null)
    return { last: null, not_anchored: accepted, ...rest }
  const held = sealed.header.nLast.reduce((total, n) => total + n, 0)
  return {
    last: { batch: index, anchored_at: formatIso(anchored.blockTimeS * secondMs) },
    not_anchored: Math.max(0, accepted - held),
    ...rest,
  }
}

/** After an outage this many are sent at a time; the others wait. */
const mostSent = 1_000

/** @param final the last batch that is */
async function readBacklog(kv: KV, final: number, nowMs: number) {
  const open = await valueOf(kv, openKey, parseOpen)
  // the open batch may just have been sealed
  const newest = open?.index ?? final
  const isSealed = (await valueOf(kv, headerKey(newest), parseSealed)) !== undefined
  const sealed = Math.max(final, isSealed ? newest : newest - 1)
  const oldest = sealed > final ? await valueOf(kv, batchKey(final + 1), parseBoundary) : undefined
  let sent = 0
  while (sent < Math.min(sealed - final, mostSent) && (await kv.get(anchoredKey(final + sent + 1))))
    sent++
  const oldest_seconds =
    oldest === undefined ? null : Math.max(0, Math.floor((nowMs - oldest.sealedMs) / secondMs))
  return { batches: { sealed, sent, final }, oldest_seconds }
}

async function valueOf<T>(
  kv: KV,
  key: string,
  parse: (value: unknown) => T | undefined,
): Promise<T | undefined> {
  return parse(await readEntry(kv, key))
}
