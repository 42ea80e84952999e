/** The process that archives: its rights, its lease, and what is left where it is killed or the disk is full. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command as archiveCommand } from '../../cli/archive/archive.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type ArchivedCity, archivedCity } from '../support/archived-city.ts'
import { eventually } from '../support/eventually.ts'
import { signInAs } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { smallDisk } from '../support/small-disk.ts'

// each start of a process takes a second or two

const opened = new AsyncDisposableStack()
const patiently = { everyMs: 10 }
let city: ArchivedCity
let env: Record<string, string>

beforeAll(async () => {
  city = opened.use(await archivedCity())
  env = { AIRPROOF_DATA: city.folder, NATS_URL: city.natsUrl }
})
afterAll(() => opened.disposeAsync())

const verified = (folder: string) => runCommand(verifyCommand, { words: [folder] })

test('its user of NATS may do all that a run needs', async () => {
  const { NATS_USER: user = '', NATS_PASSWORD: password = '' } = signInAs('archive')
  const nc = await connectNats(
    { natsUrl: city.natsUrl, natsLogin: { user, password } },
    { name: 'a' },
  )
  try {
    const { made } = await city.archive(join(city.folder, 'as-archive'), { nc })
    expect(made?.readings).toBe(city.log.written.length)
  } finally {
    await nc.close()
  }
})

test('it holds the lease, says how far it is, and keeps what the next run needs', async () => {
  const [system, leases] = await Promise.all(
    [buckets.system, buckets.leases].map((name) => new Kvm(city.nc).open(name)),
  )
  const folder = join(city.folder, 'process')
  await using process_ = await started(['archive'], {
    ...signInAs('archive'),
    AIRPROOF_ARCHIVE_DIR: folder,
    AIRPROOF_ARCHIVE_POLL: '100ms',
  })
  const reported = await eventually(
    'the process reports',
    async () => (await system!.get('archive'))?.json<{ folder: string; trouble: unknown }>(),
    patiently,
  )
  expect(reported).toMatchObject({ folder, run: 0, complete_until: null, trouble: null })
  expect((await system!.get('needed.archive'))?.json()).toEqual({ readings: 1 })
  expect((await leases!.get('task.archive'))?.string()).toMatch(/^archive-[0-9a-f]{12}$/)
  await process_.stop()
  expect((await leases!.get('task.archive'))?.operation).not.toBe('PUT')
})

async function started(args: readonly string[], more: Record<string, string> = {}) {
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', ...args],
    env: { ...environment(), ...env, AIRPROOF_ADMIN_PORT: '0', AIRPROOF_LOG: 'warn', ...more },
    onLine: () => undefined,
  })
  return Object.assign(child, { [Symbol.asyncDispose]: async () => void (await child.stop()) })
}

/** What exists from the beginning of each phase on. */
const phases = [
  '.lock',
  '.aside',
  'readings',
  'runs/run-1.manifest.json',
  'sensors.parquet',
  'statistics',
  'datapackage.json',
  'croissant.json',
  'catalogue.json',
]

test('killed in every phase, it has published all of a run or nothing, and goes on', async () => {
  const folder = join(city.folder, 'killed')
  const published: boolean[] = []
  for (const phase of phases) {
    // what the kill before has left stays, apart from what is waited for and what was published
    for (const name of [phase, 'catalogue.json'])
      rmSync(join(folder, name), { recursive: true, force: true })
    const child = await started(['archive', 'now'], { AIRPROOF_ARCHIVE_DIR: folder })
    await eventually(`${phase} is there`, () => existsSync(join(folder, phase)), {
      everyMs: 1,
    })
    child.kill('SIGKILL')
    await child.exited
    const isThere = existsSync(join(folder, 'catalogue.json'))
    published.push(isThere)
    // all of it, or nothing
    const { code } = isThere ? await verified(folder) : { code: 0 }
    expect([phase, code]).toEqual([phase, 0])
  }
  expect([published[0], published.at(-1)]).toEqual([false, true])
  rmSync(join(folder, 'catalogue.json'))
  const { code, out } = await runCommand(archiveCommand, {
    words: ['now'],
    env: { ...env, AIRPROOF_ARCHIVE_DIR: folder },
  })
  expect([code, out]).toEqual([0, expect.stringMatching(/^run 1: /)])
  expect((await verified(folder)).code).toBe(0)
})

test('a full disk: nothing is published and nothing is left, and it goes on when there is room', async (context) => {
  const folder = join(city.folder, 'small-disk')
  await using disk = await smallDisk(folder, '60k')
  if (disk === undefined) return context.skip('only root may mount a small disk')
  await expect(city.archive(folder)).rejects.toThrow(/ENOSPC/)
  expect(existsSync(join(folder, 'catalogue.json'))).toBe(false)
  await disk.grow('8m')
  expect((await city.archive(folder)).made?.run).toBe(1)
  expect((await verified(folder)).code).toBe(0)
})

test('status, now and verify say how far it is', async () => {
  const folder = join(city.folder, 'commands')
  const run = (words: string[], flags = {}) =>
    runCommand(archiveCommand, { words, flags, env: { ...env, AIRPROOF_ARCHIVE_DIR: folder } })
  expect((await run(['status'])).err).toContain('there is no archive in')
  expect((await run(['now'])).out).toMatch(/^run 1: \d+ readings in \d+ files/)
  expect((await run(['now'])).out).toContain('everything that is final is archived')
  const status = JSON.parse((await run(['status'], { json: true })).out)
  expect(status).toMatchObject({ folder, runs: 1, readings: city.log.written.length })
  expect((await run(['status'])).out).toMatch(/complete up to .*T00:00:00Z, batch \d+/)
  expect((await run(['verify'])).out).toContain('PROVEN')
})
