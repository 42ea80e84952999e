/** A running city that is copied, lost and made again: what the drills with either database share. */
import { existsSync, readdirSync } from 'node:fs'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect } from 'vitest'
import { command as auditCommand } from '../../../cli/audit/audit.ts'
import { nOfSeq, partitionOfSeq } from '../../../core/air/reading.ts'
import { type Child, startChild } from '../../../runtime/machine/child.ts'
import type { RunningInstance } from '../../../runtime/machine/running-instance.ts'
import { lastValues } from '../../../runtime/nats/buckets/last-values.ts'
import { connectNats } from '../../../runtime/nats/nats.ts'
import { environment } from '../../../runtime/process/config.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { alarmsKey } from '../../../schemas/anchoring/batch-record.ts'
import { buckets, spokenSubject } from '../../../schemas/subjects.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../eventually.ts'
import { runCommand } from '../run-command.ts'
import { runCity } from '../running-city.ts'
import { bodyOf } from './city.ts'
import { untilStored } from './read-store.ts'
import type { SentReading } from './sensors.ts'

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string }

export async function inCity<T>(
  data: string,
  env: Environment,
  work: (nc: NatsConnection, instance: RunningInstance) => Promise<T>,
): Promise<T> {
  await using city = await runCity(data, { env })
  const { nats, nats_operator: login } = city.instance
  const nc = await connectNats({ natsUrl: nats, natsLogin: login }, { name: 'test' })
  try {
    return await work(nc, city.instance)
  } finally {
    await nc.close()
  }
}

export async function runProcess(args: readonly string[], env: Environment): Promise<Ended> {
  const { child, out, err } = await start(args, env)
  const { code } = await child.exited
  return { code, out: out.join('\n'), err: err.join('\n') }
}

async function start(
  args: readonly string[],
  env: Environment,
): Promise<{ readonly child: Child; readonly out: string[]; readonly err: string[] }> {
  const lines: string[] = []
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', ...args],
    env: { ...environment(), ...env },
    onLine: (line) => lines.push(line),
  })
  return { child, out: lines, err: lines }
}

/** Killed as soon as it has written something into the folder. */
export async function killed(
  folder: string,
  args: readonly string[],
  env: Environment,
): Promise<void> {
  const { child, err } = await start(args, env)
  const parts = (): number => (existsSync(folder) ? readdirSync(folder).length : 0)
  await eventually('it has begun', () => !child.isAlive() || parts() > 1, { everyMs: 1 })
  child.kill('SIGKILL')
  const ended = await child.exited
  expect({ ended, err }).toMatchObject({ ended: { code: null, signal: 'SIGKILL' } })
}

export function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it ended with another one
  }
}

/** As sensors do that keep a reading until they have its receipt: in their order, until it is answered. */
export async function sendAgain(
  nc: NatsConnection,
  readings: readonly SentReading[],
): Promise<void> {
  const bySensor = Map.groupBy(readings, ({ sensor }) => sensor)
  await Promise.all(
    [...bySensor].map(async ([sensor, ofSensor]) => {
      for (const { timeMs, values } of ofSensor)
        await eventually('the reading is answered', () =>
          nc
            .request(spokenSubject(sensor), bodyOf(sensor, timeMs, values), { timeout: 2_000 })
            .then((answer) => 'seq' in answer.json<object>())
            .catch(() => false),
        )
    }),
  )
}

/** What was promised is stored, each once, and the numbers of each partition have no gap. */
export async function expectEachOnce(
  store: Store,
  promised: readonly SentReading[],
): Promise<void> {
  const rows = await untilStored(store, promised.length)
  const keys = rows.map(({ sensor, timeMs }) => `${sensor} ${timeMs}`)
  expect(keys.toSorted()).toEqual(
    promised.map(({ sensor, timeMs }) => `${sensor} ${timeMs}`).toSorted(),
  )
  for (const ofPartition of Map.groupBy(rows, ({ seq }) => partitionOfSeq(seq)).values()) {
    const numbers = ofPartition.map(({ seq }) => nOfSeq(seq)).toSorted((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  }
}

/** Anchoring goes on without DIVERGED until nothing waits, and the audit finds nothing. */
export async function expectAnchoredAndGreen(
  nc: NatsConnection,
  data: string,
  env: Environment,
): Promise<void> {
  let said: unknown
  const audited = eventually(
    'all is anchored, and the audit is green',
    async () => {
      const alarms = await lastValues(nc, buckets.batches, [alarmsKey])
      expect([...alarms.values()].join(' ')).not.toContain('DIVERGED')
      const { code, out, err } = await runCommand(auditCommand, {
        flags: { data, json: true },
        env,
      })
      said = out === '' ? err : out
      // the chain or NATS does not answer yet
      if (out === '') return false
      const report = JSON.parse(out) as { rows: { not_anchored: number } }
      return code === 0 && report.rows.not_anchored === 0
    },
    { everyMs: 2_000 },
  )
  await audited.catch((cause: unknown) => {
    throw new Error(String(said), { cause })
  })
}
