/**
 * `catalogue.json`: every file of an archive, and how far it is complete. It is written last, so what
 * it lists is there; a file that it does not list is not part of the archive.
 */
import { checkOf } from '../../schemas/check.ts'
import { isArchivePath } from './archive-layout.ts'
import {
  type ArchiveEnd,
  endSchema,
  jsonOf,
  noEnd,
  type RunFile,
  refuseNewer,
} from './run-manifest.ts'

export const catalogueFormat = 'airproof.archive.v1'

/** A file with what to expect of it. */
export type ListedFile = Pick<RunFile, 'path' | 'sha256' | 'bytes' | 'rows'>

export type CatalogueRun = {
  readonly run: number
  readonly manifest: string
  readonly sha256: string
  readonly bytes: number
  readonly readings: number
  /** The days in which its readings were measured, and the files of them. */
  readonly files: readonly RunFile[]
  readonly hashes: readonly RunFile[]
  readonly before: ArchiveEnd
  readonly after: ArchiveEnd
}

export type Catalogue = {
  readonly title: string
  readonly publisher: string
  readonly licence: string | null
  /** Everything that was accepted before this time is here. null: nothing is archived yet. */
  readonly complete_until: string | null
  readonly end: ArchiveEnd
  /** The same as a place in the order of acceptance: `/v1/changes` goes on from it. null: nothing is archived. */
  readonly cursor: string | null
  readonly runs: readonly CatalogueRun[]
  /** Not proven: computed from the readings, or said by the operator; written again when they change. */
  readonly tables: readonly ListedFile[]
}

const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const text = { type: 'string', maxLength: 1_000 } as const
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const
const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const listed = { path: text, sha256, bytes: whole, rows: whole }
const dayFile = object({ ...listed, day: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' } })
type Wire = Catalogue & { readonly format: string }
/** Fields that are not known here are passed over. */
const isWire = checkOf<Wire>(
  object({
    format: { const: catalogueFormat },
    title: text,
    publisher: text,
    licence: { anyOf: [text, { type: 'null' }] },
    complete_until: { anyOf: [text, { type: 'null' }] },
    end: endSchema,
    cursor: { anyOf: [text, { type: 'null' }] },
    runs: {
      type: 'array',
      items: object({
        run: { ...whole, minimum: 1 },
        manifest: text,
        sha256,
        bytes: whole,
        readings: whole,
        files: { type: 'array', items: dayFile },
        hashes: { type: 'array', items: dayFile },
        before: endSchema,
        after: endSchema,
      }),
    },
    tables: { type: 'array', items: object(listed) },
  }),
)

export const noCatalogue: Catalogue = {
  title: '',
  publisher: '',
  licence: null,
  complete_until: null,
  end: noEnd,
  cursor: null,
  runs: [],
  tables: [],
}

export const catalogueText = (catalogue: Catalogue): string =>
  `${JSON.stringify({ format: catalogueFormat, ...catalogue } satisfies Wire, undefined, 1)}\n`

/**
 * @returns undefined if it is not a catalogue, or lists a path that no archive has
 * @throws MustAct if it is one of a version that is not known here
 */
export function parseCatalogue(json: string): Catalogue | undefined {
  const value = jsonOf(json)
  if (!isWire(value)) {
    refuseNewer(value, /^airproof\.archive\.v\d{1,9}$/, catalogueFormat)
    return undefined
  }
  const paths = filesOf(value).map(({ path }) => path)
  const isOurs = paths.every(isArchivePath) && new Set(paths).size === paths.length
  return isOurs ? value : undefined
}

/** Every file but the catalogue itself and its descriptions. */
export const filesOf = ({ runs, tables }: Catalogue): readonly Omit<ListedFile, 'rows'>[] => [
  ...runs.flatMap(({ files, hashes, manifest: path, sha256: of, bytes }) => [
    ...files,
    ...hashes,
    { path, sha256: of, bytes },
  ]),
  ...tables,
]

export const bytesOf = (catalogue: Catalogue): number =>
  filesOf(catalogue).reduce((sum, { bytes }) => sum + bytes, 0)
