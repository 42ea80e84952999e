/** The dashboard process as it runs, with a real nats-server, and a browser's cookies. */
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { run } from '../../dashboard/main.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { openSecretBox } from '../../runtime/secrets/secret-key.ts'
import { eventually } from './eventually.ts'
import { signInAs, type TestNats, testNats } from './nats.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { writeTinyPages } from './tiny-pages.ts'

export type TestDashboard = AsyncDisposable & {
  readonly url: string
  readonly adminUrl: string
  readonly nats: TestNats
  readonly nc: NatsConnection
  readonly folder: string
  /** Every log line, as JSON text. */
  readonly logged: readonly string[]
  /** A browser without cookies yet. */
  readonly browser: (headers?: Readonly<Record<string, string>>) => Browser
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

type Options = {
  readonly env?: Readonly<Record<string, string>>
  /** The server of another instance, which closes it. */
  readonly nats?: TestNats
}

export async function testDashboard({
  env = {},
  nats: given,
}: Options = {}): Promise<TestDashboard> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder()).path
  const nats = given ?? opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const pages = join(folder, 'pages')
  writeTinyPages(pages)
  const port = await freePort()
  const adminPort = await freePort()
  const url = `http://127.0.0.1:${port}`
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const logged: string[] = []

  let running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  const stop = async (): Promise<void> => {
    running?.stop.abort('test')
    await running?.done
    running = undefined
  }
  const start = async (): Promise<void> => {
    const source = {
      env: {
        AIRPROOF_DATA: folder,
        AIRPROOF_DASHBOARD_PORT: String(port),
        AIRPROOF_DASHBOARD_PAGES: pages,
        AIRPROOF_ADMIN_PORT: String(adminPort),
        NATS_URL: nats.url,
        ...signInAs('dashboard'),
        ...env,
      },
      flags: {},
    }
    // as `up` does
    await openSecretBox(nc, source, folder)
    const stopping = new AbortController()
    const log = openLog({
      name: 'dashboard',
      level: 'debug',
      to: { write: (line) => void logged.push(line) },
    })
    const done = run({ config: readSharedConfig(source), ...source, log, stop: stopping.signal })
    running = { stop: stopping, done }
    await Promise.race([
      done,
      eventually('the dashboard is ready', async () => {
        const seen = await fetch(`${adminUrl}/ready`).catch(() => undefined)
        return seen?.status === 200
      }),
    ])
  }
  await start()
  const all = opened.move()
  return {
    url,
    adminUrl,
    nats,
    nc,
    folder,
    logged,
    start,
    stop,
    browser: (headers) => openBrowser(url, headers),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await all.disposeAsync()
    },
  }
}

export type Page = { readonly status: number; readonly text: string; readonly headers: Headers }

export type Browser = {
  readonly cookies: Map<string, string>
  readonly get: (path: string, init?: RequestInit) => Promise<Page>
  /** Sends one of our forms: with the token of the page at `path`. */
  readonly submit: (path: string, fields: Readonly<Record<string, string>>) => Promise<Page>
  /** A request as a script of our pages sends it. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Page>
}

/** Handles cookies and forms like a browser, but runs no script. */
export function openBrowser(url: string, extra: Readonly<Record<string, string>> = {}): Browser {
  const cookies = new Map<string, string>()
  const get: Browser['get'] = async (path, init = {}) => {
    const headers = new Headers({ accept: 'text/html', ...extra })
    new Headers(init.headers).forEach((value, name) => headers.set(name, value))
    if (cookies.size > 0)
      headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(path.startsWith('http') ? path : url + path, {
      redirect: 'manual',
      ...init,
      headers,
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  return {
    cookies,
    get,
    submit: async (path, fields) => {
      const page = await get(path)
      const [target = path, query] = path.split('?')
      const hidden = hiddenFields(page.text)
      // a page without the form: what was open in another tab is sent
      const sent = {
        ...(hidden['csrf'] === undefined ? hiddenFields((await get('/forgot')).text) : {}),
        ...Object.fromEntries(new URLSearchParams(query)),
        ...hidden,
      }
      return await get(target, {
        method: 'POST',
        headers: { origin: url, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ ...sent, ...fields }),
      })
    },
    ask: async (method, path, body) => {
      const { csrf } = JSON.parse((await get('/me')).text) as { csrf: string }
      return await get(path, {
        method,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'x-csrf-token': csrf,
          'sec-fetch-site': 'same-origin',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    },
  }
}

/** Of the page's own form, which is the last one on it. */
function hiddenFields(page: string): Record<string, string> {
  const form = page.slice(page.lastIndexOf('<form'))
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}
