/** What the manifest of an export is in JSON, of each version. */
import { correctionsSchema } from '../../schemas/corrections.ts'

/**
 * Every version there is, each with the versions of leaf and header that it holds. The border between
 * them lies somewhere in a period, so version 2 holds both; what has nothing of version 2 is written as
 * version 1, which older readers take. Append only; a row never changes.
 */
export const exportVersions = [
  { format: 'airproof.export.v1', leaf: [1], header: [1] },
  { format: 'airproof.export.v2', leaf: [1, 2], header: [1, 2] },
] as const

export const [export1, export2] = exportVersions

export type ExportVersion = 1 | 2

export const rowFormats = ['ndjson', 'csv'] as const
export type RowFormat = (typeof rowFormats)[number]

const whole = { type: 'integer', minimum: 0 } as const
const text = { type: 'string' } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const
const bytes = { type: 'string', pattern: '^0x([0-9a-f]{2})+$' } as const
const nodes = { type: 'array', items: bytes, minItems: 1, maxItems: 16 } as const
const arrayOf = (items: object) => ({ type: 'array', items }) as const
const object = <const P extends Readonly<Record<string, object>>>(
  properties: P,
  optional: object = {},
) =>
  ({
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  }) as const

const header = object({
  index: whole,
  prev_head: hash,
  root: hash,
  first: whole,
  last: whole,
  count: whole,
  time_min_ms: whole,
  time_max_ms: whole,
  sealed_ms: whole,
  beacon: hash,
  n_first: arrayOf(whole),
  n_last: arrayOf(whole),
})
/** What a head of version 2 is the hash of. */
const record = object({
  prev_head: hash,
  index: whole,
  root: hash,
  header_hash: hash,
  last: whole,
  n: arrayOf(whole),
})

/** @param first what it has before its headers */
const run = (first: Readonly<Record<string, object>>) =>
  object(
    {
      ...first,
      headers: arrayOf(header),
      proofs: arrayOf(
        object({
          index: whole,
          rows: whole,
          places: arrayOf({ type: 'array', items: [whole, whole], minItems: 2, maxItems: 2 }),
          siblings: arrayOf(hash),
        }),
      ),
      anchor: object({
        chain_id: whole,
        contract: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
        tx_hash: hash,
        tx_index: whole,
        block_hash: hash,
        block_number: whole,
        block_time_s: whole,
      }),
    },
    { block_header: bytes, transaction_proof: nodes, receipt_proof: nodes },
  )

/** Of an export of version 2: the version of headers and leaves. */
export const run2 = {
  anyOf: [run({ version: { const: 1 } }), run({ version: { const: 2 }, before: record })],
} as const

/** Sensors, or areas, that a part is of. */
export const mostNames = 10_000
const names = { type: 'array', minItems: 1, maxItems: mostNames, items: text } as const
/** Only in version 2: the export is a part of the period's readings. */
const filter = {
  ...object({}, { sensors: names, areas: names, quality: { enum: ['good', 'suspect'] } }),
  minProperties: 1,
} as const
const { required, properties } = correctionsSchema.items
/** Only in version 2: the models whose values are in the rows, whole, each with its hash. */
const corrections = {
  type: 'array',
  minItems: 1,
  maxItems: correctionsSchema.maxItems,
  items: {
    ...correctionsSchema.items,
    required: [...required, 'hash'],
    properties: { ...properties, hash },
  },
} as const

const schemaOf = (format: string, ofRun: object, ofRows: object = {}) =>
  object({
    format: { const: format },
    rows: object(
      {
        file: { type: 'string', pattern: '^[^/\\\\\\u0000-\\u001f]{1,255}$' },
        format: { enum: rowFormats },
        sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
        count: whole,
        not_anchored: whole,
        from: text,
        to: text,
      },
      ofRows,
    ),
    runs: arrayOf(ofRun),
  })

export const manifestSchemas = [
  schemaOf(export1.format, run({})),
  schemaOf(export2.format, run2, { filter, corrections }),
]
