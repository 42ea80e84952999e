import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { InfluxDB } from '@influxdata/influxdb-client'
import { afterAll, describe, expect, test } from 'vitest'
import { flags } from '../../core/air/quality.ts'
import { rollupBucketOf } from '../../store/influx/influx.ts'
import { influxQuery } from '../../store/influx/query.ts'
import { openSqliteFile } from '../../store/sqlite/file.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { fill, noon, span } from './analysts-day.ts'
import { faultyProxy } from './store-proxy.ts'
import { reading, sensorId } from './store-rows.ts'

const page = readFileSync(new URL('../../docs/analysts.md', import.meta.url), 'utf8')
type Example = { readonly query: string; readonly where: string }

/** The fenced examples of a language; `where` is what follows its name. */
const examples = (language: string): Example[] =>
  [...page.matchAll(/^```(\S+) ?(.*)\n([^`]*)```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , where = '', query = '']) => ({ where, query: query.trim() }))

describe('the page for analysts', () => {
  test('names every flag with its bit', () => {
    for (const [name, bit] of Object.entries(flags)) {
      expect(page).toContain(`| ${bit} | ${2 ** bit} | \`${name}\` |`)
    }
  })

  test('has a way to copy the SQLite file, which a connection that only reads may go', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'airproof-analysts-'))
    try {
      const file = join(folder, 'readings.sqlite')
      const copy = join(folder, 'copy.sqlite')
      await using store = await openSqliteStore({ file })
      await fill(store)
      const [, statement = ''] = /sqlite3 -readonly \S+ "(vacuum into [^"]+)"/.exec(page) ?? []
      using db = new DatabaseSync(file, { readOnly: true })
      db.exec(statement.replace('copy.sqlite', copy))
      using copied = openSqliteFile(copy, true)
      expect(copied.all('select * from readings')).toHaveLength(285)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('has examples for SQLite that all find something', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'airproof-analysts-'))
    try {
      const file = join(folder, 'readings.sqlite')
      {
        await using store = await openSqliteStore({ file })
        await fill(store)
      }
      using db = openSqliteFile(file, true)
      const literals = {
        ':sensor': `'${sensorId(17)}'`,
        ':area': "'Ikeja'",
        ':from': String(span.from),
        ':to': String(span.to),
      }
      expect(examples('sql').length).toBeGreaterThan(4)
      const empty: string[] = []
      for (const { query } of examples('sql').filter(({ where }) => where === '')) {
        const sql = Object.entries(literals).reduce(
          (text, [name, value]) => text.replaceAll(name, value),
          query,
        )
        if (db.all(sql).length === 0) empty.push(sql)
      }
      expect(empty).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const missing = await influxMissing()
let server: ReturnType<typeof testInflux> | undefined
afterAll(async () => (await server)?.[Symbol.asyncDispose]())

describe.skipIf(missing !== undefined)(
  `the page for analysts of InfluxDB${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('has examples that all find something with a token that only reads', async () => {
      const bucket = await (await (server ??= testInflux())).newBucket()
      await using store = await bucket.open()
      await fill(store)
      const { transport } = new InfluxDB({ url: bucket.url, token: await bucket.newReadToken() })
      const params = {
        sensor: sensorId(17),
        area: 'Ikeja',
        from: new Date(span.from).toISOString(),
        to: new Date(span.to).toISOString(),
        at: new Date(noon).toISOString(),
      }
      expect(examples('influxql').length).toBeGreaterThan(9)
      const empty: string[] = []
      for (const { query, where } of examples('influxql')) {
        const name = where === 'air_1h' ? rollupBucketOf(bucket.bucket) : bucket.bucket
        const used = Object.entries(params).filter(([param]) => query.includes(`$${param}`))
        const ask = influxQuery(transport, name, 'InfluxDB')
        const [series = []] = await ask(query, Object.fromEntries(used))
        if (series.flatMap(({ values }) => values).length === 0) empty.push(query)
      }
      expect(empty).toEqual([])
    })

    test('has examples in Flux that all find something, with a token that only reads', async () => {
      const bucket = await (await (server ??= testInflux())).newBucket()
      await using store = await bucket.open()
      await fill(store)
      const client = new InfluxDB({ url: bucket.url, token: await bucket.newReadToken() })
      const inBuckets = (query: string): string =>
        query
          .replaceAll('"air"', JSON.stringify(bucket.bucket))
          .replaceAll('"air_1h"', JSON.stringify(rollupBucketOf(bucket.bucket)))
      const found = examples('flux').map(({ query }) =>
        client.getQueryApi(bucket.org).collectRows<{ _value: number }>(inBuckets(query)),
      )
      expect(found).toHaveLength(3)
      for (const rows of await Promise.all(found)) {
        expect(rows.length).toBeGreaterThan(0)
        for (const { _value } of rows) expect(_value).toBeTypeOf('number')
      }
    })

    test('shows the very statements that the store asks', async () => {
      const bucket = await (await (server ??= testInflux())).newBucket()
      await using proxy = await faultyProxy(bucket.url, () => 'pass')
      await using store = await bucket.open(proxy.url)
      await fill(store)
      const from = proxy.asked.length
      const { sensor, timeMs } = reading()
      await store.latest(sensor, 100)
      await store.at(sensor, timeMs)
      const [first] = await store.rangeAll(span.from, span.to, 100)
      await store.rangeAll(span.from, span.to, 100, first)
      await store.seedLatest()
      await store.computeOverall('Ikeja', span.from, span.to)
      const shown = new Set(examples('influxql').map(({ query }) => squeeze(query)))
      const asked = proxy.asked
        .slice(from)
        .map(({ body }) => squeeze(new URLSearchParams(body).get('q') ?? ''))
      expect(asked.length).toBeGreaterThan(6)
      expect(asked.filter((statement) => !shown.has(statement))).toEqual([])
    })
  },
)

const squeeze = (statement: string): string => statement.replace(/\s+/g, ' ').trim()
