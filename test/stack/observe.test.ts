/**
 * A running city, as Prometheus and Grafana see it: its metrics are those of docs/metrics.md, and a
 * real Prometheus answers every panel and every alert.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { boards } from '../../observe/panels.ts'
import { processNames, registered } from '../../observe/registrations.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import type { RunningInstance } from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { sumOf } from '../support/metrics-text.ts'
import { findPrometheus } from '../support/prometheus.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const found = await findPrometheus(environment())
const missing = 'missing' in found ? ` (${found.missing})` : ''

/** A gap that a city without webhooks, refusals, broken messages and failures has. */
const needsAnEvent = new Set([
  'Connections that were closed',
  'Failures by reason',
  'Attempts by outcome',
  'Age at the end',
  'Emails',
  'Pushes: slowest hundredth by endpoint',
  'HTTP pushes',
  'Durable within',
  'Archive: complete until',
])

type Scrape = {
  readonly names: ReadonlySet<string>
  readonly series: number
  readonly text: string
}

async function scrape(admin: string): Promise<Scrape> {
  const response = await fetch(`${admin}/metrics`, { headers: { connection: 'close' } })
  const text = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const lines = text.split('\n')
  const described = lines.flatMap(
    (line) => /^# TYPE (\S+) (\S+)$/.exec(line)?.slice(1).join(' ') ?? [],
  )
  return {
    names: new Set(described.filter((line) => line.startsWith('airproof_'))),
    series: lines.filter((line) => line !== '' && !line.startsWith('#')).length,
    text,
  }
}

/** 500 readings per second for six seconds, while each process is scraped ten times per second. */
async function underLoad({ admin = {} }: RunningInstance, data: string): Promise<void> {
  const judged = async (): Promise<number> =>
    sumOf((await scrape(admin['pipeline'] ?? '')).text, 'airproof_readings_total')
  const before = await judged()
  const printed: string[] = []
  const what = ['--sensors', '50', '--rate', '500', '--for', '6s', '--first', '601', '--json']
  await using sensors = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'simulate', '--data', data, ...what],
    env: environment(),
    onLine: (line) => printed.push(line),
  })
  let [answers, slowestMs, mostUnjudged] = [0, 0, 0]
  const scrapeOften = async (url: string): Promise<void> => {
    for await (const _ of setInterval(100)) {
      if (!sensors.isAlive()) return
      const startedMs = performance.now()
      const { text } = await scrape(url)
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
      mostUnjudged = Math.max(mostUnjudged, sumOf(text, 'airproof_unjudged_messages'))
      answers++
    }
  }
  await Promise.all(Object.values(admin).map(scrapeOften))
  const { messages } = JSON.parse(printed.at(-1) ?? '') as { readonly messages: number }
  expect(messages).toBeGreaterThan(2_000)
  expect(answers).toBeGreaterThan(7 * 20)
  expect(slowestMs).toBeLessThan(2_000)
  // the work went on all the while
  expect(mostUnjudged).toBeLessThan(messages / 2)
  await eventually('all of it is judged', async () => (await judged()) - before >= messages)
}

type Result = {
  readonly metric: Readonly<Record<string, string>>
  readonly value: [number, string]
}

test(`its metrics are those of the page, its series are few, a scrape under load is answered, and Prometheus answers every panel${missing}`, async () => {
  using folder = temporaryFolder()
  await using up = await runCity(join(folder.path, 'data'), {
    flags: ['--demo', '12'],
    env: { ANCHOR_INTERVAL: '5s' },
  })
  const { admin = {}, api, dashboard = '', key } = up.instance
  expect(Object.keys(admin).toSorted()).toEqual(processNames.toSorted())

  // addresses that clients invent, each another one, make no series
  const invented = Array.from({ length: 150 }, (_, n) => `/v1/sensors/X-${n}/readings-${n}?a${n}=1`)
  const asked = [...invented, '/v1/sensors', '/v1/areas', '/v1/nothing', '/%ff']
  for (const path of asked) {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' }
    await (await fetch(api + path, { headers })).arrayBuffer()
    await (await fetch(dashboard + path, { headers: { connection: 'close' } })).arrayBuffer()
  }
  await eventually('all sensors are online', async () =>
    (await scrape(admin['api'] ?? '')).text.includes(
      'airproof_sensors{status="online",process="api"} 12',
    ),
  )
  for (const [name, url] of Object.entries(admin)) {
    const { names, series } = await scrape(url)
    const page = registered().filter(({ processes }) => processes.includes(name))
    expect([...names].toSorted()).toEqual(page.map((one) => `${one.name} ${one.type}`).toSorted())
    expect([name, series]).toEqual([name, expect.toSatisfy((count: number) => count < 1_000)])
  }
  await underLoad(up.instance, join(folder.path, 'data'))
  if ('missing' in found) return

  // as docs/observe.md says, at the ports of this city
  const config = parse(readFileSync('observe/prometheus/up.yml', 'utf8')) as {
    global: object
    rule_files: string[]
    scrape_configs: { static_configs: { targets: string[]; labels: { process: string } }[] }[]
  }
  for (const target of config.scrape_configs.flatMap((one) => one.static_configs))
    target.targets = [new URL(admin[target.labels.process] ?? '').host]
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' }
  const file = join(folder.path, 'prometheus.yml')
  writeFileSync(
    join(folder.path, 'airproof.rules.yml'),
    readFileSync('observe/prometheus/airproof.rules.yml'),
  )
  writeFileSync(file, stringify(config))
  const port = await freePort()
  await using _prometheus = await startChild({
    command: found.prometheus,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder.path, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    env: environment(),
    onLine: () => undefined,
  })
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
      headers: { connection: 'close' },
    })
    const body = (await response.json()) as { status: string; error?: string; data: T }
    expect([path, body.status, body.error]).toEqual([path, 'success', undefined])
    return body.data
  }
  const query = async (expr: string): Promise<readonly Result[]> =>
    (await ask<{ result: readonly Result[] }>(`query?query=${encodeURIComponent(expr)}`)).result

  await eventually('all are scraped, for long enough for rates', async () => {
    const seen = await query('count_over_time(up{job="airproof"}[1m]) >= 5').catch(() => [])
    const anchored = await query('airproof_anchor_final_batch >= 1').catch(() => [])
    return seen.length === processNames.length && anchored.length === 1
  })
  // batches are of 5 s, and something is always younger
  const age = sumOf((await scrape(admin['anchor'] ?? '')).text, 'airproof_anchor_oldest_seconds')
  expect(age).toBeGreaterThan(0)
  expect(age).toBeLessThan(120)
  const empty: string[] = []
  for (const { title, shows } of boards.flatMap(({ panels }) => panels)) {
    const answers = await Promise.all(
      Object.keys(shows).map((expr) => query(expr.replaceAll('$__rate_interval', '1m'))),
    )
    if (answers.some((answer) => answer.length > 0)) continue
    empty.push(title)
  }
  expect(empty.filter((title) => !needsAnEvent.has(title))).toEqual([])
  const { groups } = await ask<{
    groups: { rules: { name: string; health: string; state: string }[] }[]
  }>('rules')
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.filter(({ health }) => health === 'err')).toEqual([])
  expect(rules.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([])
})
