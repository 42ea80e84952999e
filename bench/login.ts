/**
 * Sign-ins: how many per second and core, through the whole process, and their effect on `/v1` of
 * the API beside it. `node bench/login.ts [--seconds 8]` prints one JSON document.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Kvm } from '@nats-io/kv'
import { percentile } from '../core/air/percentile.ts'
import { createAccount, openAccountBook } from '../operate/account-book.ts'
import { hashPassword } from '../operate/password-hash.ts'
import { openPasswords, writePassword } from '../operate/password-store.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { buckets } from '../schemas/subjects.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import { testNats } from '../test/support/nats.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'
import { key, keyRecord } from './verify-api-key.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '8' } } })
const lastsMs = Number(values.seconds) * 1_000
const people = 200
const password = 'three plain words'
const goal = { loginsPerSecondPerCore: 20, v1DelayP99Ms: 10 }

using folder = temporaryFolder()
await using nats = await testNats()
const nc = await nats.connect('bench')
// the API is ready when there is a store, even an empty one
await using _store = await openSqliteStore({ file: join(folder.path, 'readings.sqlite') })
await ensureStreams(nc)
const book = await openAccountBook(nc)
const { hash, record } = keyRecord()
await (await new Kvm(nc).open(buckets.keys)).put(hash, JSON.stringify(record))
const passwords = await openPasswords(nc)
const phc = await hashPassword(password)
for (let n = 0; n < people; n++) {
  const account = await createAccount(book, {
    email: `person${n}@example.org`,
    name: `Person ${n}`,
    tier: 'free',
    nowMs: Date.now(),
  })
  await writePassword(passwords, account.id, phc, 0)
}
const pages = join(folder.path, 'pages')
mkdirSync(pages)
writeFileSync(join(pages, 'index.html'), '<!doctype html><title>bench</title>')

type Running = { readonly child: ChildProcess; readonly url: string }

async function start(file: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const child = fork(new URL(file, import.meta.url), {
    env: { PATH: '', AIRPROOF_DATA: folder.path, AIRPROOF_LOG: 'warn', NATS_URL: nats.url, ...env },
  })
  const [message]: { readonly url: string }[] = await once(child, 'message')
  return { child, url: message?.url ?? '' }
}

async function cpuMs({ child }: Running): Promise<number> {
  child.send('cpu')
  const [message]: { readonly cpuUs: number }[] = await once(child, 'message')
  return (message?.cpuUs ?? 0) / 1_000
}

const api = await start('./verify-api-child.ts', {})
const dashboard = await start('./login-child.ts', {
  AIRPROOF_API_URL: api.url,
  AIRPROOF_DASHBOARD_PAGES: pages,
  AIRPROOF_DASHBOARD_PROXIES: '1',
})

let tries = 0
let refused = 0
/** @returns whether it was let in; a 503 means that too many wait already */
async function login(): Promise<boolean> {
  const n = tries++
  // each from a network of its own, so that no limit is measured
  const headers = {
    'x-forwarded-for': `2001:db8:${(n >> 16).toString(16)}:${(n & 65_535).toString(16)}::1`,
  }
  const page = await fetch(`${dashboard.url}/login`, { headers })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const cookie = (page.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
  const answer = await fetch(`${dashboard.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, cookie },
    body: new URLSearchParams({ csrf, email: `person${n % people}@example.org`, password }),
  })
  await answer.arrayBuffer()
  if (answer.status === 503) refused++
  else if (answer.status !== 303) throw new Error(`a sign-in was answered ${answer.status}`)
  return answer.status === 303
}

async function askV1(forMs: number): Promise<{ readonly p50: number; readonly p99: number }> {
  const times: number[] = []
  const requests: Promise<void>[] = []
  const askOnce = async (): Promise<void> => {
    const startMs = performance.now()
    const answer = await fetch(`${api.url}/v1/areas`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await answer.arrayBuffer()
    times.push(performance.now() - startMs)
  }
  const timer = setInterval(() => requests.push(askOnce()), 10)
  await new Promise((resolve) => setTimeout(resolve, forMs))
  clearInterval(timer)
  await Promise.all(requests)
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 50) ?? 0, p99: percentile(sorted, 99) ?? 0 }
}

async function fullSpeed(forMs: number): Promise<object> {
  const [startCpu, startMs] = [await cpuMs(dashboard), performance.now()]
  let count = 0
  const lane = async (): Promise<void> => {
    while (performance.now() - startMs < forMs) {
      if (await login()) count++
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  const seconds = (performance.now() - startMs) / 1_000
  const usedMs = (await cpuMs(dashboard)) - startCpu
  return {
    logins: count,
    perSecond: rounded(count / seconds),
    cpuMsEach: rounded(usedMs / count),
    perSecondPerCore: rounded((count / usedMs) * 1_000),
  }
}

const rounded = (value: number): number => Math.round(value * 100) / 100
const shown = ({ p50, p99 }: { p50: number; p99: number }) => ({
  p50Ms: rounded(p50),
  p99Ms: rounded(p99),
})

await Promise.all(Array.from({ length: 4 }, login))
await askV1(2_000)
const idle = await askV1(lastsMs)
const logins: Promise<boolean>[] = []
const pacing = setInterval(() => logins.push(login()), 1_000 / goal.loginsPerSecondPerCore)
const paced = await askV1(lastsMs)
clearInterval(pacing)
await Promise.all(logins)
const speed = await fullSpeed(lastsMs)
console.log(
  JSON.stringify(
    {
      goal,
      argon2id: '19 MiB, t=2, p=1',
      fullSpeed: speed,
      v1: {
        alone: shown(idle),
        beside20LoginsASecond: { ...shown(paced), logins: logins.length, refused },
        delayP99Ms: rounded(paced.p99 - idle.p99),
      },
    },
    undefined,
    2,
  ),
)
for (const { child } of [dashboard, api]) {
  child.disconnect()
  await once(child, 'exit')
}
await nc.close()
