import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { BatchHeader } from '../../core/proof/header.ts'
import { MustAct } from '../../runtime/exit.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import {
  type Anchored,
  parseAnchored,
  parseSealed,
  type SealedBatch,
} from '../../schemas/anchoring/batch-record.ts'
import type { Deployments } from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'

/** By index. */
export type SealedRecords = {
  readonly sealed: ReadonlyMap<number, SealedBatch>
  readonly anchored: ReadonlyMap<number, Anchored>
}

/** What the anchor process keeps of every batch, as it is now. */
export async function readSealed(nc: NatsConnection): Promise<SealedRecords> {
  const sealed = new Map<number, SealedBatch>()
  const anchored = new Map<number, Anchored>()
  await using _ = await watchBucket(nc, buckets.batches, (value, key) => {
    const [, kind = '', number = ''] = /^(header|anchored)\.(\d{1,15})$/.exec(key) ?? []
    if (kind === 'header') {
      const batch = parseSealed(value)
      if (batch !== undefined) sealed.set(Number(number), batch)
    } else if (kind === 'anchored') {
      const record = parseAnchored(value)
      if (record !== undefined) anchored.set(Number(number), record)
    }
    return undefined
  })
  return { sealed, anchored }
}

/** In the order of the batches. */
export const sealedHeaders = ({ sealed }: SealedRecords): readonly BatchHeader[] =>
  [...sealed].toSorted(([a], [b]) => a - b).map(([, { header }]) => header)

/** The contracts, in the order that they were made. @throws MustAct where nothing was ever anchored */
export async function needDeployments(nc: NatsConnection): Promise<Deployments> {
  const [first, ...others] = await readDeployments(await new Kvm(nc).open(buckets.anchoring))
  if (first !== undefined) return [first, ...others]
  throw new MustAct('nothing is anchored here yet: `airproof anchor` does that')
}
