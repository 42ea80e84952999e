/** Text of sensors and customers reaches an operator's terminal escaped, and JSON unchanged. */
import { execFile } from 'node:child_process'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets, rejectedHeaders, rejectedSubject } from '../../schemas/subjects.ts'
import { hostileText, terminalCodes } from '../support/hostile-text.ts'
import { type TestNats, testNats } from '../support/nats.ts'

const at = '2026-01-01T00:00:00Z'
const sensor = 'NGR-LOS-IKJ-017'
const webhook = 'wh_0000001'
const account = 'acc_1'
/** A header has one line. */
const hostileLine = hostileText.replaceAll(/[\r\n]/g, '')

const records: readonly (readonly [bucket: string, key: string, value: unknown])[] = [
  [
    buckets.accounts,
    account,
    {
      id: account,
      email: `a${hostileText}@example.org`,
      name: hostileText,
      organization: hostileText,
      tier: 'premium',
      role: 'user',
      created_at: at,
    },
  ],
  [
    buckets.keys,
    'hash',
    {
      id: 'key_1',
      account,
      name: hostileText,
      hint: 'aqk_abcd',
      created_at: at,
      expires_at: '2099-01-01T00:00:00Z',
    },
  ],
  [
    buckets.sensors,
    sensor,
    {
      id: sensor,
      cadence_seconds: 60,
      created_at: at,
      sites: [{ from: at, area: 'Ikeja', lat: 6.6, lon: 3.35, address: hostileText }],
    },
  ],
  [
    buckets.seen,
    sensor,
    {
      heard: { at, protocol: 'mqtt', address: '192.0.2.1', client: hostileText },
      left: { at, reason: hostileText },
      refused: { count: 1, at, reason: hostileText },
    },
  ],
  [
    buckets.webhooks,
    webhook,
    {
      id: webhook,
      account,
      url: `https://example.org/${hostileText}`,
      description: hostileText,
      events: ['aqi.high'],
      filters: { area: 'Ikeja' },
      active: false,
      paused: false,
      disabled: { reason: 'failing', at, detail: hostileText },
      secrets: { current: 'v1.sealed' },
      created_at: at,
      updated_at: at,
    },
  ],
]

let nats: TestNats
let nc: NatsConnection
let rejected = ''

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
  const kvm = new Kvm(nc)
  for (const [bucket, key, value] of records)
    await (await kvm.open(bucket)).put(key, JSON.stringify(value))
  const head = headers()
  head.set(rejectedHeaders.sensor, sensor)
  head.set(rejectedHeaders.why, hostileLine)
  head.set(rejectedHeaders.arrived, String(Date.parse(at)))
  head.set(rejectedHeaders.length, '1')
  head.set(rejectedHeaders.sha256, '00')
  const subject = rejectedSubject('not_json', 3, 1, 0, sensor)
  await jetstream(nc).publish(subject, hostileText, { headers: head })
  rejected = subject.slice('air.rejected.'.length)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

/** Runs the program, with all its output. */
const airproof = (...args: readonly string[]): Promise<{ out: string; all: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      ['bin/airproof.mjs', ...args],
      { env: { ...environment(), NATS_URL: nats.url } },
      (_error, out, err) => resolve({ out, all: out + err }),
    )
  })

const commands = (): readonly (readonly string[])[] => [
  ['accounts', 'list'],
  ['keys', 'list'],
  ['sensors', 'list'],
  ['sensors', 'show', sensor],
  ['webhooks', 'list'],
  ['webhooks', 'show', webhook],
  ['rejected', 'list'],
  ['rejected', 'show', rejected],
]

test('no command prints control characters of others, and each shows that they are there', async () => {
  for (const command of commands()) {
    const { all } = await airproof(...command)
    expect([command, all]).toEqual([command, expect.stringContaining(String.raw`\u001b]52;c`)])
    expect([command, terminalCodes.exec(all)]).toEqual([command, null])
    // only what was refused is shown in its own lines
    expect([command, /^faked/m.test(all.replace(/^\s*$[^]*/m, ''))]).toEqual([command, false])
  }
})

test('as JSON each prints exactly what is stored', async () => {
  for (const command of commands()) {
    const { all, out } = await airproof(...command, '--json')
    expect([command, terminalCodes.exec(all)]).toEqual([command, null])
    const expected = command[0] === 'rejected' && command[1] === 'list' ? hostileLine : hostileText
    expect([command, textsOf(JSON.parse(out))]).toEqual([
      command,
      expect.arrayContaining([expected]),
    ])
  }
})

test('nor does an error that repeats what was typed', async () => {
  const { all } = await airproof(hostileLine)
  expect(all).toContain(String.raw`\u001b]52;c`)
  expect(terminalCodes.exec(all)).toBeNull()
})

const textsOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : []
