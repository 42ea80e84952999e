import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { lastValues } from '../runtime/nats/buckets/last-values.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { type Deployment, deploymentKey } from '../schemas/anchoring/batch-record.ts'
import {
  deploymentKeyOf,
  parseDeploymentAt,
  placeOfDeployment,
} from '../schemas/anchoring/deployments.ts'
import { buckets } from '../schemas/subjects.ts'

/** The contract in use, of whichever version; undefined: there is none yet, or its entry cannot be read. */
export async function readNewestContract(nc: NatsConnection): Promise<Deployment | undefined> {
  const entries = await lastValues(nc, buckets.anchoring, [deploymentKey, `${deploymentKey}.*`])
  const newest = [...entries.keys()].reduce(
    (most, key) => Math.max(most, placeOfDeployment(key) ?? 0),
    0,
  )
  if (newest === 0) return undefined
  const entry = await readEntry(await new Kvm(nc).open(buckets.anchoring), deploymentKeyOf(newest))
  const deployment = parseDeploymentAt(newest, entry)
  if (deployment === undefined) return undefined
  const { chainId, genesisHash, contract, block } = deployment
  return { chainId, genesisHash, contract, block }
}
