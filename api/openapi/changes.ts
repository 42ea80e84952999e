/** /v1/changes: a part of the document in `document.ts`. */
import {
  arrayOf,
  failures,
  integer,
  json,
  nullable,
  object,
  oneOf,
  type Parameter,
  query,
  read,
  ref,
  success,
  text,
  textOrNull,
  timeOrNull,
  yes,
} from './parts.ts'

const page = (item: string) =>
  object({
    status: success,
    count: integer,
    next_cursor: { ...text, description: 'the place after this page: `after` of the next request' },
    more: { ...yes, description: 'the log has more already; false: you have everything' },
    gap: { ...nullable(ref('Gap')), description: 'what was passed over; null: nothing' },
    readings: arrayOf(ref(item)),
  })

export const changesSchemas = {
  ChangesPage: page('Reading'),
  FlatChangesPage: page('FlatReading'),
  NestedChangesPage: page('NestedReading'),
  Gap: {
    ...object({
      from: {
        ...timeOrNull,
        description: 'when the earliest of them was measured; null: not known',
      },
      to: { ...timeOrNull, description: 'all of them were measured before it' },
      archive: { ...textOrNull, description: 'where they can be downloaded; null: nowhere' },
    }),
    description: 'readings that the log does not hold any more',
  },
} as const

type Shared = Readonly<Record<'sensor' | 'area' | 'format' | 'index', Parameter>>

export const changesPaths = ({ sensor, area, format, index }: Shared, tables: object) =>
  ({
    '/v1/changes': {
      get: {
        operationId: 'listChanges',
        tags: ['readings'],
        summary:
          'What was accepted since a cursor, in the order of acceptance, late readings included',
        description:
          'Each reading is on one page, once. Send next_cursor back as `after`; it is there on an empty page too, and is also an id for /v1/stream. An empty page stays the same until something is accepted: with its ETag it is 304, which does not count.',
        parameters: [
          query(
            'after',
            { ...text, minLength: 1 },
            'next_cursor of an earlier answer, the id of an event of the stream, or start: the oldest that the log holds; from now on unless given',
            { example: 'start' },
          ),
          query(
            'limit',
            { type: 'integer', minimum: 1, maximum: 5_000, default: 1_000 },
            'at most this many, 1 to 5000; 1000 unless given',
          ),
          sensor,
          {
            ...area,
            description: `${area.description}; of a reading it is the area where its sensor was then`,
          },
          query('shape', oneOf(['flat', 'nested']), 'only the fields of that shape; not with CSV'),
          format,
          index,
        ],
        responses: {
          ...read(
            'a page of readings in the requested shape',
            {
              ...json({
                anyOf: ['ChangesPage', 'FlatChangesPage', 'NestedChangesPage'].map(ref),
              }),
              ...tables,
            },
            { more: ['Link', 'Airproof-More', 'Airproof-Gap'] },
          ),
          ...failures(404),
        },
      },
    },
  }) as const
