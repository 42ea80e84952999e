/**
 * The manifest of a run: the files that it wrote, and what proves that together they hold exactly the
 * readings of its batches. Its `runs` are those of an export of version 2 (docs/exports.md), in which
 * every batch is whole.
 */
import { partitionCount } from '../../core/air/sensor-id.ts'
import { MustAct } from '../../runtime/exit.ts'
import { checkOf } from '../../schemas/check.ts'
import { type ExportRun, runOf, runToWire2, type WireRun } from '../exports/export-manifest.ts'
import { run2 } from '../exports/manifest-schema.ts'

export const runFormat = 'airproof.archive.run.v1'

/** How far the archive goes: everything that was accepted up to these numbers is in it. */
export type ArchiveEnd = {
  /** The last batch. 0: none is archived yet. */
  readonly batch: number
  /** The last log sequence: a hint for readers of changes. */
  readonly position: number
  /** The last number of each of the sixteen partitions. */
  readonly n: readonly number[]
}

export const noEnd: ArchiveEnd = {
  batch: 0,
  position: 0,
  n: Array.from({ length: partitionCount }, () => 0),
}

export type RunFile = {
  readonly path: string
  /** Of the bytes, hex. */
  readonly sha256: string
  readonly bytes: number
  readonly rows: number
  /** The UTC day in which its readings were measured. */
  readonly day: string
}

export type RunManifest = {
  /** From 1, one more each time. */
  readonly run: number
  readonly before: ArchiveEnd
  readonly after: ArchiveEnd
  readonly readings: number
  readonly files: readonly RunFile[]
  /** Files with the hash of each reading, for those who want them; each can be computed. */
  readonly hashes: readonly RunFile[]
  readonly runs: readonly ExportRun[]
}

type Wire = Omit<RunManifest, 'runs'> & {
  readonly format: string
  readonly runs: readonly WireRun[]
}

const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const
const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
})
export const endSchema = object({
  batch: whole,
  position: whole,
  n: { type: 'array', items: whole, minItems: partitionCount, maxItems: partitionCount },
})
const fileSchema = object({
  path: { type: 'string', maxLength: 200 },
  sha256,
  bytes: whole,
  rows: whole,
  day: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
})
const isWire = checkOf<Wire>(
  object({
    format: { const: runFormat },
    run: { ...whole, minimum: 1 },
    before: endSchema,
    after: endSchema,
    readings: whole,
    files: { type: 'array', items: fileSchema },
    hashes: { type: 'array', items: fileSchema },
    runs: { type: 'array', items: run2 },
  }),
)

/** The same bytes each time that a run is made. */
export const runManifestText = ({ runs, ...manifest }: RunManifest): string =>
  `${JSON.stringify({ format: runFormat, ...manifest, runs: runs.map(runToWire2) } satisfies Wire)}\n`

/**
 * @returns undefined if the text is not the manifest of a run
 * @throws MustAct if it is one of a version that is not known here
 */
export function parseRunManifest(json: string): RunManifest | undefined {
  const value = jsonOf(json)
  if (!isWire(value)) {
    refuseNewer(value, /^airproof\.archive\.run\.v\d{1,9}$/, runFormat)
    return undefined
  }
  const { format: _, runs, ...manifest } = value
  return { ...manifest, runs: runs.map(runOf) }
}

/** @throws MustAct */
export function refuseNewer(value: unknown, pattern: RegExp, known: string): void {
  if (typeof value !== 'object' || value === null || !('format' in value)) return
  const { format } = value
  if (typeof format !== 'string' || !pattern.test(format) || format === known) return
  throw new MustAct(
    `the archive is of format ${format}, and this version of airproof reads ${known}: use the version that wrote it, or a newer one`,
  )
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
