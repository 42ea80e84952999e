/**
 * Every contract that batches of this data were anchored in, in bucket `anchoring`, each entry written
 * once:
 *
 * | key | contract |
 * |---|---|
 * | `deployment` | version 1: that of 0.1 and of every instance below format level 3 |
 * | `deployment.2`, `deployment.3` … | version 2, each going on from a batch of one before it |
 *
 * The newest is the one that is anchored to. A new contract that begins at batch 7 because batch 8 is
 * not ours anchors batch 8 again: from then on that one counts, and the old one's does not. Batches that
 * were sealed for the old one are sealed again (`anchor/seal-again.ts`).
 */

import type { Hex } from '../../core/hex.ts'
import { type BatchEnd, beforeFirst, endOfRecord } from '../../core/proof/batch.ts'
import { beginningOf, type ChainRecord } from '../../core/proof/chain-record.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { leaf2Level } from '../../core/state/border.ts'
import { checkOf } from '../check.ts'
import {
  type Deployment,
  deploymentKey,
  deploymentSchema,
  parseDeployment,
  type SealedBatch,
} from './batch-record.ts'
import type { ContractVersion } from './contract-code.ts'

const whole = { type: 'integer', minimum: 0 } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const

export const deployment2Schema = {
  ...deploymentSchema,
  $id: 'airproof/deployment-2',
  title: 'A contract of version 2',
  required: ['version', ...deploymentSchema.required, 'former', 'from'],
  properties: {
    version: { const: 2 },
    ...deploymentSchema.properties,
    former: {
      ...deploymentSchema.properties.contract,
      description: 'the contract that anchored `from`; zero: there is none',
    },
    from: {
      type: 'object',
      additionalProperties: false,
      required: ['prevHead', 'index', 'root', 'headerHash', 'last', 'n'],
      properties: {
        prevHead: hash,
        index: whole,
        root: hash,
        headerHash: hash,
        last: whole,
        n: { type: 'array', items: whole, minItems: 16, maxItems: 16 },
      },
    },
  },
} as const

export type Deployment2 = Deployment & {
  readonly version: 2
  readonly former: Hex
  readonly from: ChainRecord
}

export type AnyDeployment = Deployment | Deployment2
/** In the order they were made; at least one. */
export type Deployments = readonly [AnyDeployment, ...AnyDeployment[]]

/** @param k from 1 */
export const deploymentKeyOf = (k: number): string =>
  k === 1 ? deploymentKey : `${deploymentKey}.${k}`

/** @returns k; undefined: the key is not a deployment's */
export function placeOfDeployment(key: string): number | undefined {
  if (key === deploymentKey) return 1
  const [, place] = /^deployment\.([2-9]|[1-9]\d{1,5})$/.exec(key) ?? []
  return place === undefined ? undefined : Number(place)
}

/** The entry of place `k`; undefined: it cannot be read. */
export const parseDeploymentAt = (k: number, value: unknown): AnyDeployment | undefined =>
  k === 1 ? parseDeployment(value) : parseDeployment2(value)

const isDeployment2 = checkOf<Deployment2>(deployment2Schema)

export const parseDeployment2 = (value: unknown): Deployment2 | undefined =>
  isDeployment2(value) ? value : undefined

/** Contract 2 holds batches of version 2, which are sealed from format level 3 on. */
export const contractVersionAt = (level: number): ContractVersion => (level >= leaf2Level ? 2 : 1)

export const contractVersionOf = (deployment: AnyDeployment): ContractVersion =>
  'version' in deployment ? deployment.version : 1

/** The `k` of the next contract of version 2, whether there is one of version 1 or not. */
export const nextPlace = (deployments: readonly AnyDeployment[]): number =>
  2 + deployments.filter((deployment) => contractVersionOf(deployment) === 2).length

/** The last batch that is not of this contract but of one before it. */
export const beginsAfter = (deployment: AnyDeployment): number =>
  'from' in deployment ? deployment.from.index : 0

/**
 * The last batch that counts in a contract: a batch that a thief anchors after it is not one of ours.
 * @param k the place of the contract in the order that they were made
 * @returns null: it is in use
 */
export function lastBatchOf(deployments: readonly AnyDeployment[], k: number): number | null {
  const later = deployments.slice(k + 1)
  return later.length === 0 ? null : Math.min(...later.map(beginsAfter))
}

/** Which of the contracts, in the order they were made, counts for a batch. */
export const deploymentOfBatch = <D extends AnyDeployment>(
  deployments: readonly D[],
  index: number,
): D | undefined => deployments.findLast((deployment) => beginsAfter(deployment) < index)

/** The batch was sealed for a contract that does not count for it any more: it is sealed again. */
export function isForFormer(
  { contract, header }: SealedBatch,
  deployments: readonly AnyDeployment[],
): boolean {
  const counting = deploymentOfBatch(deployments, header.index)
  if (contract === undefined || counting === undefined) return false
  const place = deployments.findIndex((deployment) => deployment.contract === contract)
  return place >= 0 && place < deployments.indexOf(counting)
}

/** The end before the first batch of a contract. */
export const startOf = (deployment: AnyDeployment, keccak: Keccak): BatchEnd =>
  'from' in deployment
    ? endOfRecord(beginningOf(deployment, keccak), keccak)
    : beforeFirst(deployment.chainId, deployment.contract, keccak)
