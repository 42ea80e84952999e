import type { StreamConfig } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import {
  asMade,
  changesOf,
  differenceInWords,
  differencesOf,
} from '../../runtime/nats/streams/compare-streams.ts'
import {
  type NamedStream,
  streamTable,
  tableHash,
  tableNumber,
} from '../../runtime/nats/streams/stream-table.ts'
import { rejectedStream } from '../../schemas/subjects.ts'

const table: NamedStream = streamTable().find(({ name }) => name === rejectedStream) ?? {
  name: rejectedStream,
  subjects: [],
}

/** As the server shows it, with what it adds itself. */
const shown = (config: NamedStream): StreamConfig =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that are compared
  ({
    max_msgs: -1,
    max_msg_size: -1,
    max_age: 0,
    duplicate_window: 120_000_000_000,
    ...config,
    metadata: { '_nats.level': '2', ...config.metadata },
  }) as StreamConfig

test('a stream as it was made has no differences', () => {
  for (const config of streamTable()) {
    const current = shown(asMade(config))
    expect(differencesOf(current, config)).toEqual([])
    expect(changesOf(current, config)).toBeUndefined()
  }
})

test('subjects, limits and the behaviour when full are updated', () => {
  const older = shown({ ...table, subjects: ['air.rejected.*'], max_msgs_per_subject: 5 })
  expect(changesOf(older, table)).toMatchObject({
    subjects: ['air.rejected.>'],
    max_msgs_per_subject: 1,
    metadata: { '_nats.level': '2' },
  })
  expect(differencesOf(older, table).map(differenceInWords)).toEqual([
    'REJECTED: subjects ["air.rejected.*"] → ["air.rejected.>"]',
    'REJECTED: max_msgs_per_subject 5 → 1',
  ])
})

test('a missing bound is set, and one that airproof set follows the table', () => {
  const unbound = shown({ ...table, max_bytes: -1 })
  expect(changesOf(unbound, table)).toMatchObject({ max_bytes: table.max_bytes })
  const former = { ...table, max_bytes: 1_000 }
  expect(changesOf(shown(asMade(former)), table)).toMatchObject({ max_bytes: table.max_bytes })
})

test('a bound that an operator chose stays, and is named', () => {
  const chosen = shown({ ...asMade(table), max_bytes: 5_000 })
  const [difference] = differencesOf(chosen, table)
  expect(difference).toMatchObject({ field: 'max_bytes', stays: 'an operator has chosen it' })
  expect(changesOf(chosen, table)).not.toHaveProperty('max_bytes')
  // it is remembered as an operator's: the next version leaves it too
  const after = { ...chosen, ...changesOf(chosen, table) }
  expect(changesOf(after, { ...table, max_bytes: 9_000 })).toBeUndefined()
})

test('what the server cannot change is reported and left', () => {
  const memory = shown({ ...asMade(table), storage: 'memory' as StreamConfig['storage'] })
  expect(changesOf(memory, table)).toBeUndefined()
  expect(differencesOf(memory, table).map(differenceInWords)).toEqual([
    'REJECTED: storage stays memory, though this version makes it file: the server cannot change it: it needs a new stream',
  ])
})

test('copies are added, and never removed', () => {
  const [three = table] = streamTable({ replicas: 3 }).filter(({ name }) => name === table.name)
  expect(changesOf(shown(asMade(table)), three)).toMatchObject({ num_replicas: 3 })
  expect(changesOf(shown(asMade(three)), table)).toBeUndefined()
  expect(differencesOf(shown(asMade(three)), table)).toMatchObject([{ field: 'num_replicas' }])
})

test('a change of the table takes the next number', () => {
  expect({ tableNumber, hash: tableHash() }).toMatchInlineSnapshot(`
    {
      "hash": "6df936b3d2bd0c34fa95b3d9d743dc22a5d1f4fa10564b0d40d9972c8a9e51c6",
      "tableNumber": 4,
    }
  `)
})
