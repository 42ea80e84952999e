import type { NatsConnection } from '@nats-io/transport-node'
import type { Keccak } from '../../core/proof/leaf.ts'
import { type BatchIndex, createBatchIndex } from '../../operate/proofs/batch-index.ts'
import { watchBucket } from '../../runtime/nats/watched-bucket.ts'
import {
  checkedKey,
  parseAnchored,
  parseChecked,
  parseSealed,
} from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  parseDeploymentAt,
  placeOfDeployment,
} from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'

export type WatchedBatchIndex = BatchIndex & AsyncDisposable

/** The index over the records of the anchor process, current as they change. */
export async function watchBatchIndex(
  nc: NatsConnection,
  keccak: Keccak,
): Promise<WatchedBatchIndex> {
  await using opening = new AsyncDisposableStack()
  const index = createBatchIndex(keccak)
  // the values themselves live in the index: what the watch keeps is one `true` a key
  const batches = await watchBucket(nc, buckets.batches, (value, key) => {
    take(index, key, value)
    return true as const
  })
  opening.use(batches)
  opening.defer(
    batches.onChange(({ key, value }) => {
      if (value === undefined) take(index, key, undefined)
    }),
  )
  const deployments = new Map<number, AnyDeployment>()
  const anchoring = await watchBucket(nc, buckets.anchoring, (value, key) => {
    const k = placeOfDeployment(key)
    const deployment = k === undefined ? undefined : parseDeploymentAt(k, value)
    if (k === undefined || deployment === undefined) return undefined
    deployments.set(k, deployment)
    index.putDeployments([...deployments].toSorted(([a], [b]) => a - b).map(([, row]) => row))
    return undefined
  })
  opening.use(anchoring)
  const opened = opening.move()
  return { ...index, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** @param value undefined: the record is gone; one that does not parse is as good as gone */
function take(index: BatchIndex, key: string, value: unknown): void {
  const [, kind = '', number = ''] = /^(header|anchored)\.(\d{1,15})$/.exec(key) ?? []
  if (kind === 'header') index.putSealed(Number(number), parseSealed(value))
  else if (kind === 'anchored') index.putAnchored(Number(number), parseAnchored(value))
  else if (key === checkedKey) index.putChecked(parseChecked(value))
}
