/**
 * Bucket `batches`: what is sealed, and how it stands on the chain.
 *
 * | key | value | written |
 * |---|---|---|
 * | `batch.<index>` | `boundary` | once, by create: this decides the batch |
 * | `header.<index>` | `sealed` | when the blob is stored: the batch is sealed. Once for each contract that it is sealed for |
 * | `anchored.<index>` | `anchored` | whenever its state on the chain changes |
 * | `checked` | `checked` | at every new finalized head: holds for all final batches at once |
 * | `open` | `open` | when a batch opens |
 * | `alarms` | `alarms` | when the anchor process has other alarms than before |
 * | `border` | `border` | when all of the log that contract 1 may hold is sealed |
 */

import type { FromSchema } from 'json-schema-to-ts'
import type { Hex } from '../../core/hex.ts'
import { type BatchHeader, headerHash, headOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { checkOf } from '../check.ts'
import { asVersion1 } from '../formats.ts'

export const batchKey = (index: number): string => `batch.${index}`
export const headerKey = (index: number): string => `header.${index}`
export const anchoredKey = (index: number): string => `anchored.${index}`
export const checkedKey = 'checked'
export const openKey = 'open'
export const borderKey = 'border'
export const alarmsKey = 'alarms'

const whole = { type: 'integer', minimum: 0 } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const
const numbers = { type: 'array', items: whole } as const
const object = { type: 'object', additionalProperties: false } as const

export const boundarySchema = {
  $id: 'airproof/batch-boundary',
  title: 'Boundary of a batch',
  description: 'The range of READINGS sequences that a batch holds. Its content follows from it.',
  ...object,
  required: ['first', 'last', 'sealedMs', 'beacon'],
  properties: {
    first: { ...whole, description: 'first READINGS sequence' },
    last: { ...whole, description: 'last READINGS sequence; first − 1 where there is none' },
    sealedMs: { ...whole, description: 'ms since the epoch, UTC' },
    beacon: { ...hash, description: 'a finalized block seen when the batch opened; zero: none' },
  },
} as const

/** Hashes as core has them: `FromSchema` knows text only. */
type WithHashes<T, Names extends keyof T> = Omit<T, Names> & Readonly<Record<Names, Hex>>

export type Boundary = WithHashes<Readonly<FromSchema<typeof boundarySchema>>, 'beacon'>

export const sealedSchema = {
  $id: 'airproof/sealed-batch',
  title: 'Sealed batch',
  description: 'The header of a batch, its hash, and the head that it leaves on the chain.',
  ...object,
  required: ['header', 'headerHash', 'head'],
  properties: {
    v: { const: 2, description: 'the version of the batch; absent: 1' },
    contract: {
      type: 'string',
      pattern: '^0x[0-9a-f]{40}$',
      description: 'the contract of version 2 that the batch was sealed for',
    },
    header: {
      ...object,
      required: [
        'index',
        'prevHead',
        'root',
        'first',
        'last',
        'count',
        'timeMinMs',
        'timeMaxMs',
        'sealedMs',
        'beacon',
        'nFirst',
        'nLast',
      ],
      properties: {
        index: whole,
        prevHead: hash,
        root: hash,
        first: whole,
        last: whole,
        count: whole,
        timeMinMs: { type: 'integer' },
        timeMaxMs: { type: 'integer' },
        sealedMs: whole,
        beacon: hash,
        nFirst: numbers,
        nLast: numbers,
      },
    },
    headerHash: hash,
    head: hash,
  },
} as const

export type SealedBatch = {
  /** That it was sealed for, lower case. Absent: that of version 1, of which there is one. */
  readonly contract?: Hex
  readonly header: BatchHeader
  readonly headerHash: Hex
  readonly head: Hex
}

/** As the sealer writes it. @param contract of version 2 */
export const sealedOf = (header: BatchHeader, keccak: Keccak, contract?: Hex): SealedBatch => ({
  ...(contract !== undefined && { contract }),
  header,
  headerHash: headerHash(header, keccak),
  head: headOf(header, keccak),
})

export const anchoredSchema = {
  $id: 'airproof/anchored',
  title: 'How a batch stands on the chain',
  ...object,
  required: ['index', 'status', 'tx', 'block', 'blockHash', 'blockTimeS', 'finalized', 'checkedMs'],
  properties: {
    index: whole,
    status: {
      enum: ['sent', 'mined', 'final'],
      description: 'only `final` is an anchor: the block is finalized, and holds our head',
    },
    tx: { ...hash, description: 'the newest version sent; the mined one once it is mined' },
    block: { type: ['integer', 'null'] },
    blockHash: { ...hash, type: ['string', 'null'] },
    blockTimeS: { type: ['integer', 'null'], description: 's since the epoch, as the block says' },
    finalized: {
      description: 'the finalized head it was checked against when this was written; null: none',
      anyOf: [
        { type: 'null' },
        {
          ...object,
          required: ['number', 'hash'],
          properties: { number: whole, hash },
        },
      ],
    },
    checkedMs: { ...whole, description: 'when; `checked` says when it last held' },
  },
} as const

export type Anchored = {
  readonly index: number
  readonly status: 'sent' | 'mined' | 'final'
  readonly tx: Hex
  readonly block: number | null
  readonly blockHash: Hex | null
  readonly blockTimeS: number | null
  readonly finalized: BlockId | null
  readonly checkedMs: number
}

export type BlockId = { readonly number: number; readonly hash: Hex }

export const checkedSchema = {
  $id: 'airproof/checked',
  title: 'What a finalized head says',
  description:
    'At this finalized block the contract held the head of batch `index`. That head is a hash over every batch up to it, so one look holds for all of them.',
  ...object,
  required: ['index', 'head', 'number', 'hash', 'checkedMs'],
  properties: { index: whole, head: hash, number: whole, hash, checkedMs: whole },
} as const

export type Checked = BlockId & {
  readonly index: number
  readonly head: Hex
  readonly checkedMs: number
}

export const openSchema = {
  $id: 'airproof/open-batch',
  title: 'The batch that is open',
  ...object,
  required: ['index', 'beacon'],
  properties: { index: whole, beacon: hash },
} as const

export const alarmsSchema = {
  $id: 'airproof/anchor-alarms',
  title: 'What a person should know of the anchors',
  ...object,
  required: ['alarms', 'since'],
  properties: {
    alarms: {
      type: 'array',
      items: {
        ...object,
        required: ['reason', 'words'],
        properties: {
          reason: { type: 'string', description: 'the label of airproof_anchor_alarm' },
          words: { type: 'string', description: 'as it began' },
        },
      },
    },
    since: { type: 'string', description: 'ISO 8601, UTC: when these began' },
  },
} as const

export type AnchorAlarms = FromSchema<typeof alarmsSchema>

export const borderSchema = {
  $id: 'airproof/border',
  title: 'The last batch of contract 1',
  ...object,
  required: ['index'],
  properties: { index: whole },
} as const

export type OpenBatch = { readonly index: number; readonly beacon: Hex }

/** Subject `air.events.anchored.<index>`. */
export const anchoredEventSchema = {
  $id: 'airproof/anchored-event',
  title: 'A batch is anchored for good',
  ...object,
  required: [
    'id',
    'kind',
    'index',
    'first',
    'last',
    'count',
    'root',
    'head',
    'chain_id',
    'contract',
    'tx',
    'block',
    'block_hash',
    'timestamp',
  ],
  properties: {
    id: { type: 'string', description: '`anchored-<index>`' },
    kind: { const: 'anchored' },
    index: whole,
    first: { ...whole, description: 'first READINGS sequence' },
    last: whole,
    count: { ...whole, description: 'readings; 0: a heartbeat' },
    root: hash,
    head: hash,
    chain_id: whole,
    contract: { type: 'string' },
    tx: hash,
    block: whole,
    block_hash: hash,
    timestamp: { type: 'string', description: 'ISO 8601, UTC: the time of the block' },
  },
} as const

export type AnchoredEvent = FromSchema<typeof anchoredEventSchema>

/** Bucket `anchoring`, key `deployment`: the contract that all of this is about. */
export const deploymentSchema = {
  $id: 'airproof/deployment',
  title: 'The contract in use',
  ...object,
  required: ['chainId', 'genesisHash', 'contract', 'block'],
  properties: {
    chainId: { ...whole, minimum: 1 },
    genesisHash: hash,
    contract: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
    block: { ...whole, description: 'where the contract was deployed, or before' },
  },
} as const

export type Deployment = {
  readonly chainId: number
  readonly genesisHash: Hex
  /** Lower case. */
  readonly contract: Hex
  readonly block: number
}

export const deploymentKey = 'deployment'

const parserOf = <T>(schema: object): ((value: unknown) => T | undefined) => {
  const isRight = checkOf<T>(schema)
  return (value) => (isRight(value) ? value : undefined)
}

/** Each gives undefined where the value is not of its schema. */
export const parseBoundary = parserOf<Boundary>(boundarySchema)

type SealedEntry = SealedBatch & { readonly v?: 2 }
const parseSealedEntry = parserOf<SealedEntry>(sealedSchema)

export function parseSealed(value: unknown): SealedBatch | undefined {
  const { v, ...sealed } = parseSealedEntry(value) ?? {}
  if (!('header' in sealed)) return undefined
  return v === undefined ? sealed : { ...sealed, header: { ...sealed.header, version: v } }
}

/** As it is written: the version is beside the header, where every reader looks for one first. */
export function sealedEntry({ header, ...hashes }: SealedBatch): SealedEntry {
  const { version, ...fields } = header
  return { ...(version === undefined ? {} : { v: version }), header: fields, ...hashes }
}

export const parseAnchored = parserOf<Anchored>(anchoredSchema)
export const parseChecked = parserOf<Checked>(checkedSchema)
export const parseOpen = parserOf<OpenBatch>(openSchema)
export const parseAlarms = parserOf<AnchorAlarms>(alarmsSchema)
export const parseBorder = parserOf<{ readonly index: number }>(borderSchema)
export const parseDeployment = parserOf<Deployment>(deploymentSchema)

const isAnchoredEvent = parserOf<AnchoredEvent>(anchoredEventSchema)
const decoder = new TextDecoder()

/** A message of EVENTS; undefined: it does not tell of an anchored batch. @throws NewerFormat */
export function parseAnchoredEvent(data: Uint8Array): AnchoredEvent | undefined {
  let json: unknown
  try {
    json = JSON.parse(decoder.decode(data))
  } catch {
    return undefined
  }
  return isAnchoredEvent(asVersion1('event', json))
}
