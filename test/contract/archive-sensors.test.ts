/** The archive's table of sensors has what everyone may know, as the API does. */
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { sensorRows } from '../../archive/sensor-table.ts'
import { sensorColumns } from '../../operate/archive/sensor-columns.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets } from '../../schemas/subjects.ts'
import { testNats } from '../support/nats.ts'
import { entryOf } from '../support/pipeline.ts'

test('a former address and a future site are in no row of the archive', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const site = (from: string, address: string) => ({
    from,
    address,
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
  })
  const sites = [
    site('2020-01-01T00:00:00Z', 'Former Road'),
    site('2022-01-01T00:00:00Z', 'Present Road'),
    site('2024-01-01T00:00:00Z', 'Future Road'),
  ]
  const entry = entryOf('NGR-LOS-IKJ-001', { sites })
  await (await new Kvm(nc).open(buckets.sensors)).put(entry.id, JSON.stringify(entry))
  const rows = await sensorRows(nc, Date.UTC(2023, 0, 1))
  const cells = rows.map((row) =>
    Object.fromEntries(sensorColumns.map(({ name, of }) => [name, of(row)])),
  )
  expect(cells.map(({ from, until, address }) => [from, until, address])).toEqual([
    [Date.UTC(2020, 0, 1), Date.UTC(2022, 0, 1), null],
    [Date.UTC(2022, 0, 1), null, 'Present Road'],
  ])
  await nc.close()
})
