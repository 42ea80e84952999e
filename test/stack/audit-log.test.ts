import { hostname, userInfo } from 'node:os'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command as accounts } from '../../cli/accounts.ts'
import { command } from '../../cli/audit-log.ts'
import { command as keys } from '../../cli/keys.ts'
import { command as upgrade } from '../../cli/upgrade.ts'
import type { OperatorEntry } from '../../operate/operator-log.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { eventually } from '../support/eventually.ts'
import { signInAs, type TestNats, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'

let nats: TestNats
beforeAll(async () => {
  nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  await nc.close()
})
afterAll(() => nats?.[Symbol.asyncDispose]())

const env = () => ({ NATS_URL: nats.url, ...signInAs('operator') })

async function log(flags: Readonly<Record<string, string>> = {}): Promise<OperatorEntry[]> {
  const { out } = await runCommand(command, { env: env(), flags: { json: true, ...flags } })
  return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line) as OperatorEntry)
}

test('what an operator does by command or page is listed, with who, when and what became of it', async () => {
  expect((await runCommand(command, { env: env() })).out).toBe('nothing was done yet')
  const email = 'ada@example.org'
  const flags = { email, name: 'Ada', json: true }
  const made = await runCommand(accounts, {
    name: 'accounts',
    words: ['create'],
    flags,
    env: env(),
  })
  const { id } = JSON.parse(made.out) as { id: string }
  const words = ['role', email, 'operator']
  await runCommand(accounts, { name: 'accounts', words, env: env() })
  const failed = await runCommand(keys, { name: 'keys', words: ['revoke', 'key_none'], env: env() })
  expect(failed.code).not.toBe(0)
  await runCommand(keys, { name: 'keys', words: ['list'], env: env() })
  await runCommand(upgrade, { name: 'upgrade', flags: { 'dry-run': true }, env: env() })
  const nc = await nats.connect()
  const page = (event: string) => ({
    at: '2026-01-02T03:04:05.000Z',
    event,
    details: { account: 'acc_2', to: 'premium' },
  })
  for (const event of ['sign_in', 'operator_tier_changed'])
    await jetstream(nc).publish(`audit.${id}`, JSON.stringify(page(event)))
  await jetstream(nc).publish('audit.cli', 'not JSON')
  await nc.close()

  const entries = await log()
  const who = `${userInfo().username}@${hostname()}`
  const user = { nats_user: 'operator' }
  expect(entries.map((entry) => [entry.who, entry.what, entry.details])).toEqual([
    [
      who,
      'keys revoke',
      { outcome: expect.stringMatching(/^failed: /), words: 'revoke key_none', flags: '', ...user },
    ],
    [
      who,
      'accounts role',
      { outcome: 'done', words: `role ${email} operator`, flags: '', ...user },
    ],
    [
      who,
      'accounts create',
      { outcome: 'done', words: 'create', flags: `--email ${email} --name Ada`, ...user },
    ],
    [email, 'operator_tier_changed', { account: 'acc_2', to: 'premium' }],
  ])
  expect(Math.abs(Date.parse(entries[0]?.at ?? '') - Date.now())).toBeLessThan(60_000)
  expect((await log({ since: '1h' })).length).toBe(3)
  expect((await log({ since: '2026-01-01', who: 'ADA@' })).map(({ what }) => what)).toEqual([
    'operator_tier_changed',
  ])
  expect((await log({ what: 'accounts' })).length).toBe(2)
  const { out } = await runCommand(command, { env: env(), flags: { what: 'revoke' } })
  expect(out).toMatch(/^WHEN +WHO +WHAT +DETAILS\n.* keys revoke +outcome: failed: /)
  const wrong = await runCommand(command, { env: env(), flags: { since: 'yesterday' } })
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--since must be')])
})

test('while the log has no leader an entry is tried again, and is kept when it has one', async () => {
  await using nc = await nats.connect()
  const manager = await jetstreamManager(nc)
  let tries = 0
  nc.subscribe('audit.cli', { callback: () => void tries++ })
  await manager.streams.delete('AUDIT')
  const words = ['role', 'ada@example.org', 'user']
  const run = runCommand(accounts, { name: 'accounts', words, env: env() })
  await eventually('it is tried again', () => tries > 1)
  await ensureStreams(nc)
  expect(await run).toMatchObject({ code: 0, err: '' })
  expect((await log()).map(({ details }) => details['words'])).toEqual([
    'role ada@example.org user',
  ])
})

test('an entry that cannot be kept is printed, and the command is done all the same', async () => {
  await using nc = await nats.connect()
  await (await jetstreamManager(nc)).streams.delete('AUDIT')
  const words = ['role', 'ada@example.org', 'operator']
  const { code, out, err } = await runCommand(accounts, { name: 'accounts', words, env: env() })
  expect([code, out]).toEqual([0, expect.stringContaining('operator')])
  const [, entry = ''] =
    /^this is not in `airproof audit-log` \(.+\), so keep it yourself: (.*)$/.exec(err) ?? []
  expect(JSON.parse(entry)).toMatchObject({
    who: `${userInfo().username}@${hostname()}`,
    what: 'accounts role',
    details: { outcome: 'done', words: 'role ada@example.org operator' },
  })
  await ensureStreams(nc)
})

test('a secret on the command line is not written, and long words are cut', async () => {
  const flags = { 'admin-token': 's3cret', name: 'x'.repeat(2_000), account: 'none@example.org' }
  await runCommand(keys, { name: 'keys', words: ['create'], flags, env: env() })
  const [newest] = await log()
  expect(JSON.stringify(newest)).not.toContain('s3cret')
  expect(String(newest?.details['flags']).length).toBeLessThan(600)
})
