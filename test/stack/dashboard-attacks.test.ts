/** What a hostile address must not reach, and what a stolen session must not outlive. */
import { createServer, request } from 'node:http'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { dataProxy } from '../../dashboard/server/data-proxy.ts'
import { Refusal } from '../../dashboard/server/refusal.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { testDashboard } from '../support/dashboard.ts'
import { goodPassword, linkTo, newPerson, signIn } from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'

/** As behind our own proxy: a closed socket no longer has the client's address. */
const headers = { accept: 'application/json', 'x-forwarded-for': '192.0.2.7' }

/** The address as it is written: `fetch` would tidy it up first. */
const statusOf = (url: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    request({ hostname, port, path, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })

test('no address makes the proxy request anything but its path', async () => {
  const forwarded: (string | undefined)[] = []
  const elsewhere = createServer(({ url, headers }, response) => {
    forwarded.push(`${url} ${headers.authorization}`)
    response.end('{}')
  })
  const own = await listenOn(elsewhere, { host: '127.0.0.1', port: 0, setting: 'test' })
  const { port } = new URL(own)
  try {
    // without a port, what follows it would decide where the request goes
    await using dashboard = await testDashboard({ env: { AIRPROOF_API_URL: 'http://127.0.0.1' } })
    const { url } = dashboard
    for (const path of [
      `a://x:${port}/data/v1/areas`,
      `http://x:${port}/data/v1/areas`,
      '/data/v1/areas/..',
      '/data/v1/areas/%2e%2E',
      '/data/v1/sensors/.%2e/status',
      '/data/v1/readings/%2e/verify',
      String.raw`/data/v1/areas/..\..\metrics`,
      '/data/v1/areas/..#x',
      '/data/v1/areas/x#/../../y',
      '/data/v1//areas',
      '/data/v1/areas/a%0d%0ab',
    ])
      expect([path, await statusOf(url, path)]).toEqual([path, 400])
    expect(forwarded).toEqual([])
    // dots within a name are none of that
    expect(await statusOf(url, '/data/v1/areas/..a')).toBe(503)
  } finally {
    elsewhere.close()
  }
})

test('a new password makes links to another address void', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const [email, wanted] = ['ada@example.org', 'mallory@example.org']
  // an attacker with the session and the password requests an address of their own
  const browser = await newPerson(dashboard, smtp, { email })
  await browser.submit('/account/email', { email: wanted, password: goodPassword })
  const stolen = await linkTo(smtp, wanted, /\/confirm-email\?/)
  // the owner locks them out
  const own = dashboard.browser()
  await own.submit('/forgot', { email })
  const password = 'four other plain words'
  const reset = await linkTo(smtp, email, /\/reset\?/)
  expect((await own.submit(reset, { password })).status).toBe(200)
  const turnedAway = await browser.get(stolen)
  expect([turnedAway.status, turnedAway.headers.get('location')]).toEqual([
    303,
    `/login?next=${encodeURIComponent(stolen)}`,
  ])
  expect((await signIn(own, { email, password })).status).toBe(303)
  expect((await own.get(stolen)).status).toBe(410)
})

test('a reader who is gone before the stream begins takes no place', async () => {
  const gone = Promise.withResolvers<void>()
  const [stream] = dataProxy({
    apiUrl: 'http://127.0.0.1:9',
    key: () => 'aqk_test',
    proxies: 1,
    clockMs: () => performance.now(),
    openStreams: 1,
    stop: new AbortController().signal,
  })
  const codes: unknown[] = []
  const app = new Koa()
  app.use(async (ctx) => {
    // as while a session is looked up
    if (ctx.query['late'] !== undefined) {
      ctx.res.once('close', () => gone.resolve())
      await gone.promise
    }
    try {
      if (stream?.needs === 'none') await stream.handle(ctx)
    } catch (error) {
      codes.push(error instanceof Refusal ? error.code : error)
      ctx.body = ''
    }
  })
  const server = createServer((incoming, response) => void app.callback()(incoming, response))
  const { hostname, port } = new URL(
    await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'test' }),
  )
  const place = { hostname, port, headers }
  try {
    const early = request({ ...place, path: '/?late' })
    early.on('error', () => undefined).end()
    server.once('request', () => early.destroy())
    await gone.promise
    await statusOf(`http://${hostname}:${port}`, '/')
    await statusOf(`http://${hostname}:${port}`, '/')
    expect(codes.filter((code) => code === 'too_many_streams')).toEqual([])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('a failure that strangers cause repeatedly is logged a few times, not once for each of them', async () => {
  await using dashboard = await testDashboard({
    env: { AIRPROOF_API_URL: `http://127.0.0.1:${await freePort()}` },
  })
  for (let n = 0; n < 20; n++)
    expect((await fetch(`${dashboard.url}/data/v1/sensors`, { headers })).status).toBe(503)
  const failures = dashboard.logged.filter((line) => line.includes('could not answer'))
  expect(failures).toHaveLength(3)
  expect(failures[0]).toContain('/data/v1/sensors')
})
