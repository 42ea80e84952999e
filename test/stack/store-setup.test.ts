/** `airproof store setup` on a real InfluxDB, and on what only looks like one. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../../cli/store/store.ts'
import { freshSecret } from '../../runtime/fresh-lines.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { environment } from '../../runtime/process/config.ts'
import { openInfluxStore } from '../../store/influx/influx.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, type TestInflux, testInflux } from '../support/influx.ts'
import { type Fate, influxForwarder } from '../support/influx-forwarder.ts'
import { readingOf } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const missing = await influxMissing()
const program = resolve('bin/airproof.mjs')
const anyPort = { host: '127.0.0.1', port: 0, setting: '' }

type Auth = {
  readonly id: string
  readonly status: string
  readonly token: string
  readonly description: string
}

describe.skipIf(missing !== undefined)(`store setup ${missing ?? ''}`, () => {
  const opened = new AsyncDisposableStack()
  let influx: TestInflux
  beforeAll(async () => {
    influx = opened.use(await testInflux())
  })
  afterAll(() => opened.disposeAsync())

  const newFolder = (): string => opened.use(temporaryFolder()).path
  let made = 0
  const newName = (): string => `setup_${made++}`
  const ask = async (path: string, method = 'GET', body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${influx.url}${path}`, {
      method,
      headers: { authorization: `Token ${influx.operatorToken}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return await answer.json().catch(() => undefined)
  }
  const tokensOf = async (bucket: string): Promise<readonly Auth[]> => {
    const { authorizations } = (await ask('/api/v2/authorizations')) as {
      authorizations: readonly Auth[]
    }
    return authorizations.filter(({ description }) => description.includes(` ${bucket} (`))
  }

  /** As an operator in a folder of its own: `.env` is read and written there. */
  const airproof = (folder: string, ...flags: string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((done) => {
      const env = { ...environment(), INFLUX_ADMIN_TOKEN: influx.operatorToken }
      const args = [program, 'store', 'setup', ...flags]
      const child = execFile(process.execPath, args, { cwd: folder, env }, (_error, out, err) =>
        done({ code: child.exitCode, out, err }),
      )
    })
  const inSecrets = (
    bucket: string,
    { secrets = newFolder(), ...flags }: Readonly<Record<string, string | true>> = {},
  ) => {
    const usual = { url: influx.url, 'admin-token': influx.operatorToken }
    return runCommand(command, { words: ['setup'], flags: { ...usual, bucket, secrets, ...flags } })
  }

  test('makes buckets, tokens and settings that the processes run with; again it changes nothing', async () => {
    const folder = newFolder()
    const bucket = newName()
    writeFileSync(join(folder, '.env'), 'AIRPROOF_LOG=warn')
    const first = await airproof(folder, '--url', influx.url, '--bucket', bucket)
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.out).toContain(`bucket ${bucket}_1h: made, kept for ever`)
    const env = readFileSync(join(folder, '.env'), 'utf8')
    expect(env).toContain('AIRPROOF_LOG=warn\nINFLUX_URL=')
    const files = ['influx-write-token', 'influx-read-token'].map((name) =>
      join(folder, '.airproof', name),
    )
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
    const [write = '', read = ''] = files.map((file) => readFileSync(file, 'utf8').trim())

    await using writer = await openInfluxStore({
      url: influx.url,
      org: 'airproof',
      bucket,
      token: write,
    })
    await writer.writeBatch([readingOf({ timeMs: Date.now(), pm25: 1, aqi: 4 })])
    await writer.ping()
    await using reader = await openInfluxStore({
      url: influx.url,
      org: 'airproof',
      bucket,
      token: read,
    })
    expect(await reader.seedLatest()).toHaveLength(1)
    await expect(reader.writeBatch([readingOf({ timeMs: 1, pm25: 1, aqi: 4 })])).rejects.toThrow(
      'INFLUX_TOKEN',
    )

    const again = await airproof(folder, '--url', influx.url, '--bucket', bucket)
    expect(again.out.split('\n').slice(0, 5)).toEqual([
      `bucket ${bucket}: was there`,
      `bucket ${bucket}_1h: was there`,
      `${join(folder, '.airproof/influx-write-token')}: was there, and works`,
      `${join(folder, '.airproof/influx-read-token')}: was there, and works`,
      '.env: has these settings already',
    ])
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(env)
    expect(await tokensOf(bucket)).toHaveLength(2)
  })

  test('another value in .env is not written over, and nothing is made before that is said', async () => {
    const folder = newFolder()
    const bucket = newName()
    const env = 'INFLUX_URL=http://elsewhere:8086\nINFLUX_TOKEN=abc\n'
    writeFileSync(join(folder, '.env'), env)
    const { code, err } = await airproof(folder, '--url', influx.url, '--bucket', bucket)
    expect(code).toBe(1)
    expect(err).toContain('.env has another INFLUX_URL, INFLUX_TOKEN, which is not written over')
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(env)
    expect(await ask(`/api/v2/buckets?name=${bucket}`)).toMatchObject({ buckets: [] })
  })

  test('a token that was revoked is made again, and it says so', async () => {
    const secrets = newFolder()
    const bucket = newName()
    await inSecrets(bucket, { secrets })
    const [{ id } = { id: '' }] = (await tokensOf(bucket)).filter(({ description }) =>
      description.includes('reads and writes'),
    )
    await ask(`/api/v2/authorizations/${id}`, 'DELETE')
    const { code, out } = await inSecrets(bucket, { secrets })
    expect(code).toBe(0)
    expect(out).toContain('influx-write-token: the token in it did not work: made again')
    expect(out).toContain('influx-read-token: was there, and works')
  })

  test('interrupted at any request, before or after the server did it, it can be run again', async () => {
    let requests = 0
    let cutAt = -1
    let fate: Fate = 'cut'
    await using forwarder = await influxForwarder(influx.url, () =>
      requests++ === cutAt ? fate : 'pass',
    )
    const { url } = forwarder
    await inSecrets(newName(), { url })
    const all = requests
    expect(all).toBeGreaterThan(10)
    for (const each of ['cut', 'lose the answer'] as const) {
      for (let at = 0; at < all; at++) {
        ;[requests, cutAt, fate] = [0, at, each]
        const secrets = newFolder()
        const bucket = newName()
        expect((await inSecrets(bucket, { url, secrets })).code).toBe(75)
        cutAt = -1
        const again = await inSecrets(bucket, { url, secrets })
        expect([at, again.code, again.err]).toEqual([at, 0, ''])
        const tokens = await tokensOf(bucket)
        expect(tokens.map(({ status }) => status)).toEqual(['active', 'active'])
      }
    }
  })

  test('tokens are rotated while rows are written: every row is there, and the former tokens are refused', async () => {
    const bucket = newName()
    const secrets = newFolder()
    await inSecrets(bucket, { secrets })
    const file = join(secrets, 'influx-write-token')
    const tokenNow = () => readFileSync(file, 'utf8').trim()
    const place = { url: influx.url, org: 'airproof', bucket }
    const former = tokenNow()
    await using store = await openInfluxStore({
      ...place,
      token: former,
      tokenNow: freshSecret(file, former),
    })
    let isOver = false
    let rows = 0
    // no write fails: there is no moment without a token that works
    const writing = (async () => {
      for (; !isOver; rows++)
        await store.writeBatch([
          readingOf({ timeMs: Date.UTC(2026, 0, 1) + rows * 1_000, pm25: 1, aqi: 4 }),
        ])
    })()
    writing.catch(() => undefined)
    let [at, cutAt] = [0, 0]
    const fate = (): Fate => (at++ === cutAt ? 'cut' : 'pass')
    await using forwarder = await influxForwarder(influx.url, fate)
    const { url } = forwarder
    let isWhole = false
    for (cutAt = 0; !isWhole; cutAt++) {
      at = 0
      const { code } = await inSecrets(bucket, { url, secrets, rotate: true })
      isWhole = code === 0
      expect([0, 75]).toContain(code)
    }
    expect(cutAt).toBeGreaterThan(6)
    cutAt = -1
    const before = rows
    await eventually('rows are written', () => rows > before + 3)
    expect(tokenNow()).not.toBe(former)
    await using older = await openInfluxStore({ ...place, token: former })
    await older.ping()
    expect((await inSecrets(bucket, { url, secrets, finish: true })).code).toBe(0)
    await expect(older.ping()).rejects.toThrow('INFLUX_TOKEN')
    const after = rows
    await eventually('rows are written', () => rows > after + 3)
    expect(await inSecrets(bucket, { url, secrets, rotate: true, now: true })).toMatchObject({
      code: 0,
    })
    const last = rows
    await eventually('rows are written', () => rows > last + 3)
    isOver = true
    await writing
    const all = await store.rangeAll(0, Date.now(), 10_000, undefined, 'asc')
    expect(all).toHaveLength(rows)
    const tokens = await tokensOf(bucket)
    expect(tokens.map(({ status }) => status)).toEqual(['active', 'active'])
    expect(readdirSync(secrets)).toEqual(['influx-read-token', 'influx-write-token'])
  })

  test('what is wrong is named, with what to do', async () => {
    const bucket = newName()
    const wrong = await inSecrets(bucket, { 'admin-token': 'not-a-token' })
    expect([wrong.code, wrong.err]).toEqual([
      1,
      expect.stringContaining('The admin token is not one'),
    ])
    const org = await inSecrets(bucket, { org: 'nobody' })
    expect([org.code, org.err]).toEqual([1, expect.stringContaining('no organisation "nobody"')])
    const secrets = newFolder()
    await inSecrets(bucket, { secrets })
    const token = readFileSync(join(secrets, 'influx-write-token'), 'utf8').trim()
    const weak = await inSecrets(newName(), { 'admin-token': token })
    expect([weak.code, weak.err]).toEqual([
      1,
      expect.stringMatching(/organisation|may not do this/),
    ])
    const away = await inSecrets(bucket, { url: 'http://127.0.0.1:9' })
    expect([away.code, away.err]).toEqual([75, expect.stringContaining('does not answer')])
    const none = await runCommand(command, { words: ['setup'], flags: { url: influx.url } })
    expect([none.code, none.err]).toEqual([
      2,
      expect.stringContaining('--admin-token-file is needed'),
    ])
  })

  test('a bucket that drops old rows is not taken', async () => {
    const bucket = newName()
    const { orgs } = (await ask('/api/v2/orgs')) as { orgs: readonly { id: string }[] }
    const retentionRules = [{ type: 'expire', everySeconds: 30 * 86_400 }]
    await ask('/api/v2/buckets', 'POST', { orgID: orgs[0]?.id, name: bucket, retentionRules })
    const { code, err } = await inSecrets(bucket)
    expect([code, err]).toEqual([1, expect.stringContaining('drops what is older than 720 h')])
  })
})

test.each([
  ['InfluxDB 1', { 'x-influxdb-version': '1.8.10' }, '', 'is version 1.8.10'],
  ['InfluxDB 3', { 'x-influxdb-version': '3.4.0' }, '{"version":"3.4.0"}', 'is version 3.4.0'],
  ['something else', { 'content-type': 'text/html' }, '<html>', 'is not an InfluxDB 2'],
])('%s at the URL is named', async (_name, headers, body, words) => {
  using folder = temporaryFolder()
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body))
  const url = await listenOn(server, anyPort)
  const flags = { url, 'admin-token': 't', secrets: folder.path }
  const { code, err } = await runCommand(command, { words: ['setup'], flags })
  server.close()
  server.closeAllConnections()
  expect([code, err]).toEqual([1, expect.stringContaining(words)])
})
