/**
 * Archives through the whole service, and everything it then stores and answers compared with a
 * plain recomputation from the files.
 */

import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { openLog } from '../../runtime/log.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { eventually } from '../../test/support/eventually.ts'
import { askApi, fieldsOf, listOf } from './ask.ts'
import { checkArea } from './check-areas.ts'
import { checkReadings } from './check-readings.ts'
import { checkSensors } from './check-sensors.ts'
import { checkStore, checkUnchanged } from './check-store.ts'
import {
  type ArchiveToReplay,
  type ExpectedArchive,
  type ExpectedVerdicts,
  expectArchive,
} from './expected-city.ts'
import { createFindings, type Findings } from './findings.ts'
import { periodsOf } from './periods.ts'
import { type RunningCity, type StoreName, startCity } from './running-city.ts'
import { startStopwatch } from './stopwatch.ts'

export type RunOptions = {
  readonly archives: readonly ArchiveToReplay[]
  readonly store: StoreName
  /** Readings per message. */
  readonly batch: number
  /** Send everything a second time. */
  readonly again: boolean
  readonly note: (line: string) => void
}

type Replayed = ExpectedVerdicts & {
  readonly rows: number
  readonly values: number
  /** From the first reading stored in RAW to the last verdict in the log. */
  readonly seconds: number
  readonly readingsPerSecond: number
  /** From the start of the command to its end. */
  readonly commandSeconds: number
}

export type RunReport = {
  readonly store: StoreName
  readonly batch: number
  /** How the rates were taken. */
  readonly how: string
  readonly replays: readonly Replayed[]
  readonly again: readonly Replayed[]
  readonly compared: Readonly<Record<string, number>>
  readonly mismatches: number
  /** The first few, in words. */
  readonly found: readonly string[]
}

export async function replayAndCheck(options: RunOptions): Promise<RunReport> {
  const { archives, store, batch, note } = options
  const findings = createFindings()
  const compared: Record<string, number> = {}
  let before = 0
  const done = (what: string): void => {
    compared[what] = findings.compared() - before
    before = findings.compared()
    note(`compared ${what}: ${compared[what]}, ${findings.mismatches()} mismatches so far`)
  }
  const expected = archives.map(expectArchive)
  await using city = await startCity(store, note)
  await using opened = new AsyncDisposableStack()
  const log = openLog({ name: 'archives', level: 'error' })
  const nc = await connectNats(
    { natsUrl: city.instance.nats, natsLogin: city.instance.nats_operator },
    { name: 'archives', log },
  )
  opened.defer(() => nc.close())

  const replays: Replayed[] = []
  for (const [i, archive] of archives.entries()) {
    await city.command('sensors', 'import', ...importWords(archive))
    replays.push(await replay(city, nc, archive, batch))
    checkVerdicts(replays[i], expected[i], 'first', findings)
  }
  done('verdicts')
  const sensors = expected.flatMap((one) => one.sensors).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const total = sensors.reduce((sum, { readings }) => sum + readings.length, 0)
  await eventually(
    'the store holds as many rows as were accepted',
    async () => ((await city.stored.count()) >= total ? true : undefined),
    { withinMs: 120_000, everyMs: 250 },
  ).catch((error: unknown) => findings.miss(String(error)))
  findings.same(() => 'rows in the store', await city.stored.count(), total)
  const stored = await checkStore(city.stored, sensors, findings)
  done('stored rows')

  const ask = askApi(city.instance)
  const areas = [undefined, ...new Set(archives.map(({ area }) => area))]
  const checkAreas = async (): Promise<void> => {
    for (const area of areas) {
      const own = sensors.flatMap(({ readings }) =>
        readings.filter((one) => area === undefined || one.area === area),
      )
      const times = own.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b)
      await checkArea(periodsOf(times), { ask, findings, sensors, area })
    }
  }
  await checkAreas()
  done('areas, as they are')
  await checkSensors(sensors, ask, findings)
  done('sensors')
  await checkReadings({ ask, findings, sensors, stored })
  done('readings')
  await rollUpsWritten(nc)
  await checkAreas()
  done('areas, from roll-ups')

  const again: Replayed[] = []
  if (options.again) {
    for (const [i, archive] of archives.entries()) {
      again.push(await replay(city, nc, archive, batch))
      checkVerdicts(again[i], expected[i], 'again', findings)
    }
    checkUnchanged(stored, await checkStore(city.stored, sensors, findings), findings)
    done('after the second replay')
  }
  return {
    store,
    batch,
    how:
      batch === 1
        ? 'a message a reading, each synced to the disk by the server: the rate is mostly its own'
        : `arrays of up to ${batch} readings of a sensor, from the first stored to the last judged`,
    replays,
    again,
    compared,
    mismatches: findings.mismatches(),
    found: findings.first(),
  }
}

const importWords = ({ files, format, code, area, sensorsFile }: ArchiveToReplay): string[] =>
  sensorsFile === undefined
    ? [...files, '--format', format, '--code', code, '--area', area]
    : [sensorsFile]

async function replay(
  city: RunningCity,
  nc: NatsConnection,
  { files, format, code }: ArchiveToReplay,
  batch: number,
): Promise<Replayed> {
  const watch = await startStopwatch(nc)
  const beganMs = performance.now()
  const how = ['--format', format, '--code', code, '--speed', 'max', '--batch', String(batch)]
  const { printed, notes } = await city.command('replay', ...files, ...how, '--json')
  const commandSeconds = rounded((performance.now() - beganMs) / 1000)
  const ms = await watch.stop()
  const report = fieldsOf(JSON.parse(printed))
  const sent = Number(report['sent'])
  const refused = fieldsOf(report['refused'])
  const [, rows, values] = /(\d+) rows = (\d+) values/.exec(notes.join('\n')) ?? []
  return {
    rows: Number(rows),
    values: Number(values),
    sent,
    accepted: Number(report['accepted']),
    duplicate: Number(report['duplicate']),
    conflict: Number(report['conflict']),
    refused: Object.fromEntries(
      Object.entries(refused)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([why, n]) => [why, Number(n)]),
    ),
    unmapped: Number(report['unmapped']),
    seconds: rounded(ms / 1000),
    readingsPerSecond: Math.round((sent / ms) * 1000),
    commandSeconds,
  }
}

const rounded = (seconds: number): number => Math.round(seconds * 100) / 100

function checkVerdicts(
  replayed: Replayed | undefined,
  expected: ExpectedArchive | undefined,
  which: 'first' | 'again',
  findings: Findings,
): void {
  const verdicts = expected?.[which]
  for (const name of ['rows', 'values'] as const)
    findings.same(() => `${which} replay: ${name}`, replayed?.[name], expected?.[name])
  for (const name of ['sent', 'accepted', 'duplicate', 'conflict', 'refused', 'unmapped'] as const)
    findings.same(() => `${which} replay: ${name}`, replayed?.[name], verdicts?.[name])
}

/** Resolves when the statistics job has nothing left to do with what the log holds. */
async function rollUpsWritten(nc: NatsConnection): Promise<void> {
  const system = await new Kvm(nc).open(buckets.system)
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(readingsStream)
  const isWritten = async (): Promise<boolean> => {
    const record = fieldsOf((await system.get('rollup'))?.json())
    return (
      Number(record['position']) >= state.last_seq &&
      listOf(record['dirty']).length + listOf(record['dirtyDays']).length === 0
    )
  }
  await eventually('the roll-ups are written', isWritten, { withinMs: 600_000, everyMs: 500 })
}
