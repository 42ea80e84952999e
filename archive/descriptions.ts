/** The archive's files in the words of other catalogues: Frictionless Data Package and Croissant. */
import { sensorsFile } from '../operate/archive/archive-layout.ts'
import type { Catalogue } from '../operate/archive/catalogue.ts'
import type { Column } from '../operate/archive/parquet-table.ts'
import { readingColumns } from '../operate/archive/reading-columns.ts'
import { sensorColumns } from './sensor-table.ts'
import { statisticsColumns } from './statistics-table.ts'

const parquet = 'application/vnd.apache.parquet'

const frictionlessType: Readonly<Record<Column<never>['kind'], string>> = {
  text: 'string',
  time: 'datetime',
  count: 'integer',
  int: 'integer',
  number: 'number',
  flag: 'boolean',
  hash: 'string',
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

export function dataPackageText(catalogue: Catalogue): string {
  const resource = (name: string, path: readonly string[], columns: readonly Column<never>[]) => ({
    name,
    path,
    format: 'parquet',
    mediatype: parquet,
    schema: {
      fields: columns.map(({ name: field, kind }) => ({
        name: field,
        type: frictionlessType[kind],
      })),
    },
  })
  return textOf({
    profile: 'data-package',
    name: 'air-quality-archive',
    title: catalogue.title,
    description: described(catalogue),
    licenses: catalogue.licence === null ? [] : [{ name: catalogue.licence }],
    contributors: [{ title: catalogue.publisher, role: 'publisher' }],
    resources: [
      resource('readings', readingPaths(catalogue), readingColumns),
      resource('sensors', [sensorsFile], sensorColumns),
      resource('area_hours', tablesIn(catalogue, 'statistics/area_hours/'), statisticsColumns),
      resource('area_days', tablesIn(catalogue, 'statistics/area_days/'), statisticsColumns),
    ].filter(({ path }) => path.length > 0),
  })
}

/** https://docs.mlcommons.org/croissant */
export function croissantText(catalogue: Catalogue): string {
  const files = [...catalogue.runs.flatMap((run) => run.files), ...catalogue.tables]
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
    publisher: { '@type': 'sc:Organization', name: catalogue.publisher },
    distribution: [
      ...files.map(({ path, bytes, sha256 }) => ({
        '@type': 'cr:FileObject',
        '@id': path,
        name: path,
        contentUrl: path,
        contentSize: `${bytes} B`,
        encodingFormat: parquet,
        sha256,
      })),
      {
        '@type': 'cr:FileSet',
        '@id': 'readings',
        encodingFormat: parquet,
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

const readingPaths = (catalogue: Catalogue): readonly string[] =>
  catalogue.runs.flatMap(({ files }) => files.map(({ path }) => path))

const tablesIn = ({ tables }: Catalogue, folder: string): readonly string[] =>
  tables.flatMap(({ path }) => (path.startsWith(folder) ? [path] : []))

const textOf = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`
