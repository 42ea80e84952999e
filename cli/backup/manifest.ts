/**
 * What is in a backup: `manifest.json` in its folder, written last. A folder without one is a backup
 * that was interrupted.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FromSchema } from 'json-schema-to-ts'
import { MustAct } from '../../runtime/exit.ts'
import { isStreamCopy, type StreamCopy } from '../../runtime/nats/streams/stream-copy.ts'
import { tableNumber } from '../../runtime/nats/streams/stream-table.ts'
import { ourVersion } from '../../runtime/version.ts'
import { checkOf } from '../../schemas/check.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { assertKnown } from '../../schemas/formats.ts'

export const manifestFile = 'manifest.json'
/** Where a stream's copy is in the folder. */
export const streamFile = (stream: string): string => `streams/${stream}.tar.s2`
/** There while a backup is written, and afterwards if it was interrupted. */
export const unfinishedFile = 'unfinished'

const object = { type: 'object', additionalProperties: false } as const
const text = { type: 'string' } as const
const whole = { type: 'integer', minimum: 0 } as const

const manifestSchema = {
  $id: 'airproof/backup',
  ...object,
  required: [
    'format',
    'airproof',
    'table',
    'level',
    'network',
    'started_at',
    'finished_at',
    'until',
    'received_until',
    'original',
    'store',
    'archive',
    'anchoring',
    'streams',
    'files',
  ],
  properties: {
    format: { const: 'airproof.backup.v1' },
    airproof: { ...text, description: 'the version that made it' },
    table: { ...whole, description: 'the number of its table of streams' },
    level: { ...whole, description: 'the format level of the instance' },
    network: { ...text, description: 'the id of the network' },
    started_at: text,
    finished_at: text,
    until: {
      ...object,
      description: 'everything that was accepted up to here is in it',
      required: ['time', 'sequence', 'readings', 'partitions'],
      properties: {
        time: text,
        sequence: { ...whole, description: 'of READINGS' },
        readings: { ...whole, description: 'that were ever accepted' },
        partitions: {
          type: 'array',
          items: whole,
          description: 'the number of the last reading of each partition',
        },
      },
    },
    received_until: { ...text, description: 'what NATS acknowledged up to here is in it' },
    original: {
      ...object,
      description: 'where the instance was, to notice that it still runs',
      required: ['nats', 'folder', 'host'],
      properties: { nats: text, folder: text, host: text },
    },
    store: { enum: ['sqlite', 'influx'] },
    archive: { enum: ['copied', 'left out', 'none'] },
    anchoring: {
      ...object,
      description: 'the contracts, as in bucket `anchoring`, and the last batch that is sealed',
      required: ['deployments', 'sealed'],
      properties: { deployments: { type: 'array', items: { type: 'object' } }, sealed: whole },
    },
    streams: { type: 'array', items: { type: 'object' } },
    files: {
      type: 'array',
      items: {
        ...object,
        required: ['path', 'bytes', 'sha256'],
        properties: { path: text, bytes: whole, sha256: text },
      },
    },
  },
} as const

type Written = Readonly<FromSchema<typeof manifestSchema>>
export type Manifest = Omit<Written, 'streams' | 'anchoring'> & {
  readonly streams: readonly StreamCopy[]
  readonly anchoring: { readonly deployments: readonly object[]; readonly sealed: number }
}
export type BackupFile = Manifest['files'][number]

const isWritten = checkOf<Written>(manifestSchema)
const isManifest = (value: unknown): value is Manifest =>
  isWritten(value) && value.streams.every(isStreamCopy)

/** @throws MustAct it was interrupted, is of a later version, or cannot be read */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestFile)
  if (!existsSync(file))
    throw new MustAct(
      existsSync(join(folder, unfinishedFile))
        ? `the backup in ${folder} was interrupted, so it cannot be restored: run \`airproof backup ${folder}\` again, or restore an older one`
        : `${folder} holds no backup: there is no ${manifestFile} in it`,
    )
  const value = parse(readFileSync(file, 'utf8'))
  refuseLater(value, folder)
  if (isManifest(value)) return value
  throw new MustAct(
    `${file} cannot be read as the manifest of a backup: it was changed or damaged, so restore another backup`,
  )
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Both versions are named, as a person has to find the other one. */
function refuseLater(value: unknown, folder: string): void {
  const field = (name: string): unknown => Reflect.get(Object(value), name)
  const [, version] = /^airproof\.backup\.v(\d+)$/.exec(String(field('format'))) ?? []
  const isLater = Number(field('table')) > tableNumber || Number(field('level')) > newestLevel
  if (isLater || Number(version) > 1)
    throw new MustAct(
      `the backup in ${folder} was made by airproof ${String(field('airproof'))}, and this is airproof ${ourVersion()}, which does not know its formats: restore it with that version, or a later one`,
    )
  if (version !== undefined) assertKnown('backup', Number(version))
}
