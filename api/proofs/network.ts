/**
 * Who this network is: its chain, its contracts and what it publishes in which versions. People
 * compare it with what they learnt elsewhere; verifiers and the audit take it as a pin (`--network`).
 */

import { bundleVersions } from '../../core/proof/bundle.ts'
import { chainInWords, isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import { type ContractVersion, contractCodes } from '../../schemas/anchoring/contract-code.ts'
import { contractVersionAt } from '../../schemas/anchoring/deployments.ts'
import type { NetworkSettings } from '../config.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'

/** A contract that batches were anchored in, as bucket `anchoring` has it. Without a version: 1. */
export type UsedContract = Pick<Deployment, 'chainId' | 'contract' | 'block'> & {
  readonly version?: ContractVersion
  /** The batch that it goes on from. */
  readonly from?: { readonly index: number }
}

type Options = {
  readonly settings: NetworkSettings
  /** The API's own address, from the settings. */
  readonly publicUrl: string
  /** All that were ever used, oldest first; empty: nothing is anchored yet. */
  readonly contracts: readonly UsedContract[]
  readonly formatLevel: number
  /** The API serves an archive of its own. */
  readonly hasArchive?: boolean
}

/** The name of the format; a verifier refuses a newer one, so only a change of meaning changes it. */
const networkFormat = 'airproof.network.v1'

export type NetworkDocument = ReturnType<typeof networkDocument>

/** The newest contract decides which chain it is: all contracts of a network are on one chain. */
export function networkDocument({
  settings,
  publicUrl,
  contracts,
  formatLevel,
  hasArchive = false,
}: Options) {
  const api = publicUrl.replace(/\/+$/, '')
  const chainId = contracts.at(-1)?.chainId
  // those that are handed out at this level
  const bundles = bundleVersions.filter(({ header }) => header <= contractVersionAt(formatLevel))
  return {
    format: networkFormat,
    name: settings.name,
    api,
    chain: chainId === undefined ? null : chainOf(chainId, settings.chainName),
    contracts: contracts.map(({ contract: address, version = 1, block }, k) => {
      const { hash, ownerAt } = contractCodes[version]
      const last_batch = lastBatch(contracts.slice(k + 1))
      return { address, version, block, code_hash: hash, owner_at: ownerAt, last_batch }
    }),
    versions: {
      api: ['v1'],
      leaf: [...new Set(bundles.map(({ leaf }) => leaf))],
      header: [...new Set(bundles.map(({ header }) => header))],
      bundle: bundles.map(({ format }) => format),
      format_level: formatLevel,
    },
    licence: settings.licence ?? null,
    attribution: settings.attribution ?? settings.name,
    archive: settings.archiveUrl ?? (hasArchive ? `${api}/archive/catalogue.json` : null),
  }
}

/** A batch that a thief anchors in a contract after it was given up is not one of the network. null: it is in use. */
const lastBatch = (later: readonly UsedContract[]): number | null =>
  later.length === 0 ? null : Math.min(...later.map(({ from }) => from?.index ?? 0))

const chainOf = (id: number, name: string | undefined) => ({
  id,
  name: chainInWords(id, name ?? `chain ${id}`),
  demonstration: isDemonstrationChain(id),
})

const paths = ['/v1/network', '/.well-known/airproof.json']

type Served = {
  readonly networkNow: () => NetworkDocument
  /** @throws ApiError 429 */
  readonly bound: (network: string) => void
}

/** The same document at both addresses, without a key. */
export const networkRoutes = ({ networkNow, bound }: Served): readonly Route[] =>
  paths.map((path) => ({
    path,
    params: [],
    types: [jsonType],
    isOpen: true,
    answer: ({ network }) => {
      bound(network())
      return jsonAnswer(networkNow())
    },
  }))
