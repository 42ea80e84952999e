/** Which contracts all of this is about: bucket `anchoring`, each entry written once. */
import type { KV } from '@nats-io/kv'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  deploymentKeyOf,
  parseDeploymentAt,
} from '../../schemas/anchoring/deployments.ts'
import { MustAct } from '../exit.ts'
import { readEntry } from './buckets/read-entry.ts'

/** The contract of version 1. @throws MustAct */
export const readDeployment = (kv: KV): Promise<Deployment | undefined> => readDeploymentAt(kv, 1)

/** Every contract, in the order they were made; the last one is anchored to. @throws MustAct */
export async function readDeployments(kv: KV): Promise<readonly AnyDeployment[]> {
  const [first, found] = [await readDeploymentAt(kv, 1), [] as AnyDeployment[]]
  if (first !== undefined) found.push(first)
  // an instance that was made at format level 3 has no first one
  for (let k = 2; ; k++) {
    const next = await readDeploymentAt(kv, k)
    if (next === undefined) return found
    found.push(next)
  }
}

/** @param k its place in the order of contracts: 1 for version 1 @throws MustAct */
export async function readDeploymentAt(kv: KV, k: number): Promise<AnyDeployment | undefined> {
  const key = deploymentKeyOf(k)
  const value = await readEntry(kv, key, null)
  const deployment = parseDeploymentAt(k, value)
  // taken for missing, it would lead to another contract
  if (value !== undefined && deployment === undefined)
    throw new MustAct(
      `the entry \`${key}\` of bucket \`anchoring\` cannot be read: restore it from a backup`,
    )
  return deployment
}
