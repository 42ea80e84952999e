/**
 * Who this network is: its chain, its contracts and what it publishes in which versions. People
 * compare it with what they learnt elsewhere; verifiers and the audit take it as a pin (`--network`).
 */

import type { Hex } from '../../core/hex.ts'
import { bundleVersions } from '../../core/proof/bundle.ts'
import { chainInWords, isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { ourVersion } from '../../runtime/version.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'
import {
  type AnyDeployment,
  contractVersionAt,
  contractVersionOf,
  lastBatchOf,
  startOf,
} from '../../schemas/anchoring/deployments.ts'
import type { NetworkSettings } from '../config.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { keysPath } from './sensor-keys.ts'

/** The place on the chain of the last batch that counts in a contract, and what that batch left. */
export type ContractEnd = {
  readonly block: number
  readonly txIndex: number
  /** Of the contract, after the batch. */
  readonly head: Hex
  readonly nLast: readonly number[]
}

type Options = {
  readonly settings: NetworkSettings
  /** The API's own address, from the settings. */
  readonly publicUrl: string
  /** All that were ever used, oldest first; empty: nothing is anchored yet. */
  readonly contracts: readonly AnyDeployment[]
  /** By the index of the batch, of the last batch in each contract that was given up. */
  readonly ends: ReadonlyMap<number, ContractEnd>
  readonly keccak: Keccak
  readonly formatLevel: number
  /** That cursors have; absent: it is not published. */
  readonly id?: string
  /** The API serves an archive of its own. */
  readonly hasArchive?: boolean
}

const software = ourVersion()

/** The name of the format; a verifier refuses a newer one, so only a change of meaning changes it. */
const networkFormat = 'airproof.network.v1'

export type NetworkDocument = ReturnType<typeof networkDocument>

/** The newest contract decides which chain it is: all contracts of a network are on one chain. */
export function networkDocument(options: Options) {
  const { settings, publicUrl, contracts, formatLevel, id, hasArchive = false } = options
  const api = apiOf(publicUrl)
  const chainId = contracts.at(-1)?.chainId
  // those that are handed out at this level
  const bundles = bundleVersions.filter(({ header }) => header <= contractVersionAt(formatLevel))
  return {
    format: networkFormat,
    ...(id !== undefined && { id }),
    name: settings.name,
    api,
    chain: chainId === undefined ? null : chainOf(chainId, settings.chainName),
    contracts: contractRows(options),
    versions: {
      software,
      api: ['v1'],
      leaf: [...new Set(bundles.map(({ leaf }) => leaf))],
      header: [...new Set(bundles.map(({ header }) => header))],
      bundle: bundles.map(({ format }) => format),
      format_level: formatLevel,
    },
    licence: settings.licence ?? null,
    attribution: settings.attribution ?? settings.name,
    sensor_keys: `${api}${keysPath}/{sensor_id}`,
    archive: archiveAddress({ settings, publicUrl, hasArchive }),
  }
}

const apiOf = (publicUrl: string): string => publicUrl.replace(/\/+$/, '')

/** Where the data can be downloaded; null: nowhere. */
export const archiveAddress = ({
  settings,
  publicUrl,
  hasArchive,
}: Pick<Options, 'settings' | 'publicUrl'> & { readonly hasArchive: boolean }): string | null =>
  settings.archiveUrl ?? (hasArchive ? `${apiOf(publicUrl)}/archive/catalogue.json` : null)

function contractRows({ contracts, ends, keccak }: Options) {
  const rows = contracts.map((deployment, k) => {
    const version = contractVersionOf(deployment)
    const { hash, ownerAt } = contractCodes[version]
    const { contract: address, block } = deployment
    const last_batch = lastBatchOf(contracts, k)
    const pin = { address, version, block, code_hash: hash, owner_at: ownerAt, last_batch }
    const { index: after_batch, head, nLast } = startOf(deployment, keccak)
    const begins = { after_batch, head, numbers: nLast }
    return { pin, range: { begins, ends: endRow(last_batch, after_batch, ends) } }
  })
  // half of the ranges would say nothing of the rest: a verifier says in words that there are none
  const isKnown = rows.every(({ range }) => range.ends !== undefined)
  return rows.map(({ pin, range }) => (isKnown ? { ...pin, ...range } : pin))
}

/** null: all that comes counts, or no batch does. undefined: not known now. */
function endRow(last: number | null, after: number, ends: Options['ends']) {
  if (last === null || last <= after) return null
  const end = ends.get(last)
  if (end === undefined) return undefined
  const { block, txIndex, head, nLast } = end
  return { block, tx_index: txIndex, head, numbers: nLast }
}

const chainOf = (id: number, name: string | undefined) => ({
  id,
  name: chainInWords(id, name ?? `chain ${id}`),
  demonstration: isDemonstrationChain(id),
})

const paths = ['/v1/network', '/.well-known/airproof.json']

type Served = {
  readonly networkNow: () => Promise<NetworkDocument>
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
    answer: async ({ network }) => {
      bound(network())
      return jsonAnswer(await networkNow())
    },
  }))
