/**
 * A running city is copied under load, lost with all its processes and its folder, and made again from
 * the copy; its sensors send again what they have no receipt for. Each round goes on from the one before.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test, vi } from 'vitest'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { spokenSubject } from '../../schemas/subjects.ts'
import {
  type Ended,
  endNow,
  expectAnchoredAndGreen,
  expectEachOnce,
  inCity,
  killed,
  runProcess,
  sendAgain,
} from '../support/chaos/backup-drill.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type SentReading, startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const victims = ['pipeline', 'notifier', 'anchor', 'nats-server', 'gate']
const env = { ANCHOR_INTERVAL: '2s' }
/** 500 readings a second: 250 sensors that wait for each answer. */
const [sensorCount, everyMs] = [250, 500]
/** The longest that NATS may be silent while it is copied. */
const longestPauseMs = 1_000

test('lost after a backup under load, the city goes on from it: nothing promised is lost or counted twice, and the audit is green', async () => {
  const rounds = inject('soak') ? 10 : 2
  using folder = temporaryFolder()
  const passphrase = join(folder.path, 'passphrase')
  writeFileSync(passphrase, 'six words that nobody guesses at all\n', { mode: 0o600 })
  const commandEnv = { ...env, AIRPROOF_BACKUP_PASSPHRASE_FILE: passphrase }
  const run = (...args: readonly string[]): Promise<Ended> => runProcess(args, commandEnv)
  const ids = cityOf(sensorCount)
  const promised: SentReading[] = []
  let data = join(folder.path, 'data-0')

  for (let round = 1; round <= rounds; round++) {
    const backup = join(folder.path, `backup-${round}`)
    const copiedFrom = await inCity(data, env, async (nc, instance) => {
      if (round === 1) await registerCity(nc, ids)
      const sensors = startSensors(nc, { ids, random: seeded(round), everyMs, isLive: true })
      const answered = async (count: number): Promise<void> => {
        const enough = sensors.acknowledged.length + count
        const look = () => sensors.acknowledged.length >= enough
        await eventually('sensors are answered', look)
      }
      await answered(4 * sensorCount)
      const victim = victims[round % victims.length] ?? ''
      process.kill(readRunningInstance(data)?.pids[victim] ?? 0, 'SIGKILL')
      if (round === 1) await killed(backup, ['backup', backup, '--data', data], commandEnv)
      const refused = round === 1 ? await run('restore', backup, '--data', `${data}-no`) : undefined
      expect(refused?.err ?? 'was interrupted').toContain('was interrupted')
      await answered(2 * sensorCount)

      const usual = await longestPause(nc, answered(10 * sensorCount))
      const from = sensors.acknowledged.length
      let made: Ended | undefined
      const making = run('backup', backup, '--data', data).then((ended) => (made = ended))
      const whileCopied = await longestPause(nc, making)
      expect(made?.err).not.toContain('beginning again')
      expect(made).toMatchObject({ code: 0 })
      expect(made?.out).toMatch(/contains everything accepted up to \d{4}-.* \(\d+ readings\)/)
      printFigures(`backup, round ${round}`, {
        readings: promised.length + from,
        usual,
        whileCopied,
      })
      expect(whileCopied).toBeLessThan(Math.max(longestPauseMs, 2 * usual))
      // the copy holds what was answered before it began, and the sensors have the rest
      await answered(2 * sensorCount)
      await sensors.stop()
      promised.push(...sensors.acknowledged)
      const living = await run('restore', backup, '--data', `${data}-no`)
      expect(living.err).toContain('still runs on')
      expect(living.code).toBe(1)
      for (const pid of Object.values(instance.pids)) endNow(pid)
      return promised.length - sensors.acknowledged.length + from
    })
    rmSync(data, { recursive: true })

    const next = join(folder.path, `data-${round}`)
    const restore = ['restore', backup, '--data', next]
    await killed(`${next}.restoring`, restore, commandEnv)
    expect(existsSync(next)).toBe(false)
    const restored = await run(...restore)
    expect(restored.err).toContain('interrupted')
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.out).toMatch(/contains everything accepted up to \d{4}-.* \(\d+ readings\)/)
    const again = await run(...restore)
    expect(again.err).toContain('is not empty')

    await inCity(next, env, async (nc) => {
      await sendAgain(nc, promised.slice(copiedFrom))
      await using store = await checkedSqlite(next).open()
      await expectEachOnce(store, promised)
      await expectAnchoredAndGreen(nc, next, env)
    })
    rmSync(backup, { recursive: true })
    data = next
  }
})

/** The longest time, in ms, in which none of 500 publishes a second was answered. */
async function longestPause(nc: NatsConnection, work: Promise<unknown>): Promise<number> {
  let isOver = false
  let [longestMs, lastMs] = [0, performance.now()]
  const answered = (): void => {
    const now = performance.now()
    longestMs = Math.max(longestMs, now - lastMs)
    lastMs = now
  }
  const over = work.finally(() => {
    isOver = true
  })
  // refused readings of one sensor: they cost what others cost, and count nowhere
  const probe = spokenSubject('NGR-LOS-IKJ-9999')
  while (!isOver) {
    nc.request(probe, '{"timestamp": 12}', { timeout: 5_000 }).then(answered, () => undefined)
    await pause(2)
  }
  await over
  answered()
  return Math.round(longestMs)
}
