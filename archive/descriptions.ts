/** The archive's files in the words of other catalogues: Frictionless Data Package and Croissant. */
import { type SchemaFile, sensorsFile } from '../operate/archive/archive-layout.ts'
import type { Catalogue, ListedFile } from '../operate/archive/catalogue.ts'
import type { Column } from '../operate/archive/parquet-table.ts'
import { readingColumns } from '../operate/archive/reading-columns.ts'
import { sensorColumns } from '../operate/archive/sensor-columns.ts'
import { sensorStatisticsColumns } from './sensor-statistics-table.ts'
import { statisticsColumns } from './statistics-table.ts'

/** As each of them writes the type of a file; Croissant's readers know no other. */
const mediaTypes = {
  frictionless: 'application/vnd.apache.parquet',
  croissant: 'application/x-parquet',
} as const

/** Readers make doubles of whole numbers where some are null, and find no integers then. */
const frictionlessType = ({ kind, isNeeded }: Column<never>): string => {
  if (kind === 'count' || kind === 'int') return isNeeded ? 'integer' : 'number'
  return { text: 'string', time: 'datetime', number: 'number', flag: 'boolean', hash: 'string' }[
    kind
  ]
}

const croissantType: Readonly<Record<Column<never>['kind'], string>> = {
  text: 'sc:Text',
  time: 'sc:DateTime',
  count: 'sc:Integer',
  int: 'sc:Integer',
  number: 'sc:Float',
  flag: 'sc:Boolean',
  hash: 'sc:Text',
}

const described = (catalogue: Catalogue): string =>
  `Every reading that ${catalogue.title} accepted, with what proves that none is missing or changed`

type Shape = { readonly columns: readonly Column<never>[]; readonly schema: SchemaFile }
/** Which columns a file has, by the beginning of its path. */
const shapes: Readonly<Record<string, Shape>> = {
  'readings/': { columns: readingColumns, schema: 'schemas/readings.json' },
  [sensorsFile]: { columns: sensorColumns, schema: 'schemas/sensors.json' },
  'statistics/area_': { columns: statisticsColumns, schema: 'schemas/area_statistics.json' },
  'statistics/sensor_': {
    columns: sensorStatisticsColumns,
    schema: 'schemas/sensor_statistics.json',
  },
}

/**
 * Each file is a resource: no reader puts the parquet files of one together. Without `bytes` and `hash`:
 * frictionless does not look at the bytes of parquet, and calls every file wrong that has them.
 */
export function dataPackageText(catalogue: Catalogue): string {
  const starts = Object.entries(shapes)
  return textOf({
    profile: 'data-package',
    name: 'air-quality-archive',
    title: catalogue.title,
    description: described(catalogue),
    licenses: catalogue.licence === null ? [] : [{ name: catalogue.licence }],
    contributors: [{ title: catalogue.publisher, role: 'publisher' }],
    resources: tablesOf(catalogue).map(({ path }) => ({
      name: path.replace('.parquet', '').replaceAll('=', '-'),
      path,
      format: 'parquet',
      mediatype: mediaTypes.frictionless,
      schema: starts.find(([start]) => path.startsWith(start))?.[1].schema,
    })),
  })
}

/** The columns of those resources, by file. */
export const schemaTexts: readonly (readonly [path: SchemaFile, text: string])[] = Object.values(
  shapes,
).map(({ columns, schema }) => {
  const fields = columns.map((column) => ({ name: column.name, type: frictionlessType(column) }))
  return [schema, textOf({ fields })]
})

/** https://docs.mlcommons.org/croissant */
export function croissantText(catalogue: Catalogue): string {
  return textOf({
    '@context': {
      '@language': 'en',
      '@vocab': 'https://schema.org/',
      sc: 'https://schema.org/',
      cr: 'http://mlcommons.org/croissant/',
      dct: 'http://purl.org/dc/terms/',
      conformsTo: 'dct:conformsTo',
      recordSet: 'cr:recordSet',
      field: 'cr:field',
      dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
      source: 'cr:source',
      fileSet: 'cr:fileSet',
      includes: 'cr:includes',
      extract: 'cr:extract',
      column: 'cr:column',
    },
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.0',
    name: catalogue.title,
    description: described(catalogue),
    ...(catalogue.licence !== null && { license: catalogue.licence }),
    ...(catalogue.complete_until !== null && { datePublished: catalogue.complete_until }),
    publisher: { '@type': 'sc:Organization', name: catalogue.publisher },
    distribution: [
      ...tablesOf(catalogue).map(({ path, bytes, sha256 }) => ({
        '@type': 'cr:FileObject',
        '@id': path,
        name: path,
        contentUrl: path,
        contentSize: `${bytes} B`,
        encodingFormat: mediaTypes.croissant,
        sha256,
      })),
      {
        '@type': 'cr:FileSet',
        '@id': 'readings',
        encodingFormat: mediaTypes.croissant,
        includes: 'readings/**/*.parquet',
      },
    ],
    recordSet: [
      {
        '@type': 'cr:RecordSet',
        '@id': 'reading',
        name: 'reading',
        field: readingColumns.map(({ name, kind }) => ({
          '@type': 'cr:Field',
          '@id': `reading/${name}`,
          name,
          dataType: croissantType[kind],
          source: { fileSet: { '@id': 'readings' }, extract: { column: name } },
        })),
      },
    ],
  })
}

const tablesOf = ({ runs, tables }: Catalogue): readonly ListedFile[] => [
  ...runs.flatMap(({ files }) => files),
  ...tables,
]

function textOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 1)}\n`
}
