import { InfluxDB, type Transport } from '@influxdata/influxdb-client'
import { afterAll, describe, expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import { dayMs } from '../../core/time.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { openInfluxStore } from '../../store/influx/influx.ts'
import { rollupLine } from '../../store/influx/line-protocol.ts'
import { quotedLines } from '../../store/influx/write.ts'
import { type Store, StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import { influxMissing, type TestBucket, type TestInflux, testInflux } from '../support/influx.ts'
import { batchOf } from './store-batches.ts'
import { type Asked, type Deed, type FaultyProxy, faultyProxy } from './store-proxy.ts'
import { reading, sensorId } from './store-rows.ts'
import { plainStats } from './store-statistics.ts'

const missing = await influxMissing()
const noon = Date.UTC(2026, 2, 1, 12)
const early = Date.UTC(2015, 0, 1)
const late = Date.UTC(2031, 0, 1)

let server: Promise<TestInflux> | undefined
const influx = (): Promise<TestInflux> => (server ??= testInflux())
afterAll(async () => (await server)?.[Symbol.asyncDispose]())

type Behind = AsyncDisposable & {
  readonly proxy: FaultyProxy
  /** Through the proxy, and straight. */
  readonly store: Store
  readonly straight: Store
  readonly bucket: TestBucket
}

/** A store in a fresh bucket, behind a proxy that spoils what `decide` says. */
async function behind(
  decide: (asked: Asked, count: number) => Deed,
  timeouts: { readonly writeTimeoutMs?: number; readonly queryTimeoutMs?: number } = {},
): Promise<Behind> {
  const bucket = await (await influx()).newBucket()
  await using opening = new AsyncDisposableStack()
  const proxy = opening.use(await faultyProxy(bucket.url, decide))
  const store = opening.use(await openInfluxStore({ ...bucket, url: proxy.url, ...timeouts }))
  const straight = opening.use(await bucket.open())
  const opened = opening.move()
  return {
    proxy,
    store,
    straight,
    bucket,
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

const isWrite = ({ path }: Asked): boolean => path.startsWith('/api/v2/write')
const everything = async (store: Store): Promise<readonly Reading[]> =>
  store.rangeAll(early, late, 100_000)

const writes = (store: Store): (() => Promise<unknown>)[] => [
  async () => store.writeBatch([reading()]),
  async () => store.writeAreaHours([plainStats('Ikeja', noon, [reading()])]),
  async () => store.writeAreaDays([plainStats('Ikeja', noon, [reading()])]),
]
const questions = (store: Store): (() => Promise<unknown>)[] => [
  async () => store.ping(),
  async () => store.latest(sensorId(1), 1),
  async () => store.range(sensorId(1), noon, noon + 1, 1),
  async () => store.rangeAll(noon, noon + 1, 1),
  async () => store.at(sensorId(1), noon),
  async () => store.existing([reading()]),
  async () => store.seedLatest(),
  async () => store.computeBuckets('Ikeja', noon, noon + 1, 'hour'),
  async () => store.computeOverall(wholeNetwork, noon, noon + 1),
  async () => store.areaHours('Ikeja', noon, noon + 1),
  async () => store.areaDays('Ikeja', noon, noon + 1),
]

/** As another program would, with its own ideas of types. */
const writeRaw = async (bucket: TestBucket, lines: string): Promise<unknown> =>
  transportOf(bucket, bucket.token).request(
    `/api/v2/write?org=${bucket.org}&bucket=${bucket.bucket}&precision=ms`,
    lines,
    { method: 'POST' },
  )
const transportOf = ({ url }: { url: string }, token: string): Transport =>
  new InfluxDB({ url, token }).transport

describe.skipIf(missing !== undefined)(
  `the InfluxDB store in trouble${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    describe('a write', () => {
      // 1000 is what the client's buffer holds
      test.each([1, 999, 1000, 1001, 2500])(
        'of %i rows that meets a 503 fails, stores nothing, and is whole when sent again',
        async (size) => {
          await using it = await behind((asked, count) =>
            isWrite(asked) && count === 1
              ? { status: 503, headers: { 'retry-after': '7' } }
              : 'pass',
          )
          const rows = batchOf(1, 0, size)
          await expect(it.store.writeBatch(rows)).rejects.toThrow(StoreUnavailable)
          expect(await everything(it.straight)).toEqual([])
          expect(await it.store.writeBatch(rows)).toEqual([])
          expect(await everything(it.straight)).toEqual(rows.toReversed())
          // the client sent nothing of its own accord, neither then nor since
          expect(it.proxy.asked.filter(isWrite).length).toBe(2)
        },
      )

      test('of 1200 batches at once loses exactly those that the server refused', async () => {
        // more calls in flight than the client's buffer has places
        const isUnlucky = ({ body }: Asked): boolean => / \d+7$/.test(body)
        await using it = await behind((asked) =>
          isWrite(asked) && isUnlucky(asked) ? { status: 503 } : 'pass',
        )
        const rows = batchOf(1, 0, 1200)
        const results = await Promise.allSettled(
          rows.map(async (row) => it.store.writeBatch([row])),
        )
        const failed = rows.filter((_, i) => results[i]?.status === 'rejected')
        expect(failed).toEqual(rows.filter(({ timeMs }) => timeMs % 10 === 7))
        const kept = await it.straight.existing(rows)
        expect(rows.filter((_, i) => kept[i] === undefined)).toEqual(failed)
      })

      test.each([408, 429, 500, 502, 503, 504])('answered %i may succeed later', async (status) => {
        await using it = await behind(() => ({ status, json: { message: 'not now' } }))
        const written = it.store.writeBatch([reading()])
        await expect(written).rejects.toThrow(StoreUnavailable)
        await expect(written).rejects.toThrow(/not now/)
        await expect(it.store.latest(sensorId(1), 1)).rejects.toThrow(StoreUnavailable)
        await expect(it.store.ping()).rejects.toThrow(StoreUnavailable)
      })

      test.each(['cut', 'silence'] as const)('that meets a %s may succeed later', async (deed) => {
        // nothing else in this file waits for an answer that does not come
        const timeouts = { writeTimeoutMs: 50, queryTimeoutMs: 50 }
        await using it = await behind(() => deed, timeouts)
        await expect(it.store.writeBatch([reading()])).rejects.toThrow(StoreUnavailable)
        await expect(it.store.latest(sensorId(1), 1)).rejects.toThrow(StoreUnavailable)
      })

      test('to a port where nobody listens may succeed later', async () => {
        const url = `http://127.0.0.1:${await freePort()}`
        await using store = await openInfluxStore({ url, token: 'x', org: 'o', bucket: 'b' })
        for (const ask of [...writes(store), ...questions(store)]) {
          const asked = ask()
          await expect(asked).rejects.toThrow(StoreUnavailable)
          await expect(asked).rejects.toThrow(/ECONNREFUSED/)
        }
      })

      test('answered 400 is cut down to the lines it does not quote, and those are written', async () => {
        const poison = [2, 5]
        await using it = await behind((asked) => {
          const quoted = asked.body.split('\n').filter((line) => / pm25=0\.0[25],/.test(line))
          if (!isWrite(asked) || quoted.length === 0) return 'pass'
          // as a real server words it, see the next test
          const message = quoted
            .map((line) => `unable to parse '${line}': bad timestamp`)
            .join('\n')
          return { status: 400, json: { code: 'invalid', message } }
        })
        // an area that looks like the end of a quotation
        const rows = batchOf(1, 0, 9).map((row) => ({ ...row, area: "x': y, 'z" }))
        const refused = await it.store.writeBatch(rows)
        expect(refused).toEqual(poison.map((i) => ({ row: rows[i], why: 'bad timestamp' })))
        const kept = rows.filter((_, i) => !poison.includes(i))
        expect(await everything(it.straight)).toEqual(kept.toReversed())
        const alone = await it.store.writeBatch(rows.filter((_, i) => poison.includes(i)))
        expect(alone.length).toBe(2)
      })

      test('answered 400 by a real server quotes the lines as this expects', async () => {
        const bucket = await (await influx()).newBucket()
        const lines = [
          "reading,area=it's\\ :\\ so,sensor_id=a pm25=1.5,seq=1i 1700000000000",
          "reading,area=x':\\ y,sensor_id=a pm25=oops 1700000000000",
          'reading,area=b,sensor_id=a seq=99999999999999999999i 1700000000000',
        ]
        const message = await writeRaw(bucket, lines.join('\n')).then(
          () => '',
          (error: { json?: { message?: string } }) => error.json?.message ?? '',
        )
        expect([...quotedLines(message, new Set(lines)).keys()]).toEqual(lines.slice(1))
      })

      test('answered 400 without a quotation needs a person', async () => {
        await using it = await behind((asked) =>
          isWrite(asked) ? { status: 400, json: { message: 'precision is not known' } } : 'pass',
        )
        const written = it.store.writeBatch([reading()])
        await expect(written).rejects.toThrow(StoreMisconfigured)
        await expect(written).rejects.toThrow(/precision is not known/)
      })

      test('of rows that another program gave other types reports which were dropped', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await bucket.open()
        // in one week, and one week only, pm25 is an integer
        await writeRaw(bucket, `reading,area=x,sensor_id=x pm25=1i ${noon}`)
        const dropped = reading({ timeMs: noon + 1 })
        const kept = [
          reading({ timeMs: noon + 2, pm25: null }),
          reading({ timeMs: noon + 60 * dayMs }),
          reading({ timeMs: noon - 60 * dayMs }),
        ]
        const refused = await store.writeBatch([dropped, ...kept])
        expect(refused.map(({ row }) => row)).toEqual([dropped])
        expect(refused[0]?.why).toMatch(/field type conflict/)
        expect(await store.existing([dropped, ...kept])).toEqual([undefined, ...kept])
      })

      test('of rows older than the bucket keeps reports which were dropped', async () => {
        const { operatorToken } = await influx()
        const bucket = await (await influx()).newBucket()
        const admin = transportOf(bucket, operatorToken)
        const path = '/api/v2/buckets'
        const headers = { accept: 'application/json' }
        const found: { buckets: { id: string }[] } = await admin.request(
          `${path}?name=${bucket.bucket}`,
          '',
          { method: 'GET', headers },
        )
        const retentionRules = [{ type: 'expire', everySeconds: 7 * 86_400 }]
        await admin.request(
          `${path}/${found.buckets[0]?.id}`,
          { retentionRules },
          { method: 'PATCH', headers },
        )
        await using store = await bucket.open()
        const old = [reading({ timeMs: early }), reading({ timeMs: early + 1 })]
        const fresh = reading({ timeMs: Date.now() })
        const refused = await store.writeBatch([old[0]!, fresh, old[1]!])
        expect(refused.map(({ row }) => row)).toEqual(old)
        expect(refused[0]?.why).toMatch(/outside retention policy/)
        expect(await store.existing([fresh, ...old])).toEqual([fresh, undefined, undefined])
      })

      test('of a roll-up that the server refuses needs a person', async () => {
        await using it = await behind((asked) =>
          isWrite(asked)
            ? { status: 422, json: { message: 'partial write: field type conflict dropped=1' } }
            : 'pass',
        )
        const hours = [plainStats('Ikeja', noon, [reading()])]
        await expect(it.store.writeAreaHours(hours)).rejects.toThrow(StoreMisconfigured)
      })
    })

    describe('a configuration', () => {
      test('with a wrong token says which setting to look at', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await openInfluxStore({ ...bucket, token: 'not-the-token' })
        for (const ask of [...writes(store), ...questions(store)]) {
          const asked = ask()
          await expect(asked).rejects.toThrow(StoreMisconfigured)
          await expect(asked).rejects.toThrow(/INFLUX_TOKEN/)
          await expect(asked).rejects.not.toThrow(/not-the-token/)
        }
      })

      test('with a bucket that is not there says which setting to look at', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await openInfluxStore({ ...bucket, bucket: 'nowhere' })
        // a write is answered 404; a query 200, with the error inside
        for (const ask of [...writes(store), ...questions(store)]) {
          const asked = ask()
          await expect(asked).rejects.toThrow(StoreMisconfigured)
          await expect(asked).rejects.toThrow(/INFLUX_BUCKET/)
        }
      })

      test('with an organisation that is not there needs a person', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await openInfluxStore({ ...bucket, org: 'nobody' })
        await expect(store.writeBatch([reading()])).rejects.toThrow(StoreMisconfigured)
      })

      test.each(['', 'influx', 'ftp://127.0.0.1', 'tcp://127.0.0.1:8086'])(
        'with %j for a URL is refused at once',
        async (url) => {
          const opening = openInfluxStore({ url, token: 'x', org: 'o', bucket: 'b' })
          await expect(opening).rejects.toThrow(StoreMisconfigured)
          await expect(opening).rejects.toThrow(/INFLUX_URL/)
        },
      )

      test.each<Deed>([
        { status: 200, text: '<html>a router</html>' },
        { status: 302, text: '', headers: { location: 'https://127.0.0.1/login' } },
        { status: 403, json: { message: 'forbidden' } },
        { status: 405, text: 'no' },
        { status: 413, text: 'too large' },
      ])('behind which something answers %j needs a person', async (deed) => {
        await using it = await behind(() => deed)
        await expect(it.store.writeBatch([reading()])).rejects.toThrow(StoreMisconfigured)
        await expect(it.store.ping()).rejects.toThrow(StoreMisconfigured)
      })
    })

    describe('a query', () => {
      test.each([
        [{ results: [{ statement_id: 0, error: 'max concurrency reached' }] }],
        [{ error: 'timeout' }],
        [{ results: [{ statement_id: 0, partial: true, series: [] }] }],
        [{}],
      ])('answered 200 with %j is not an empty answer', async (json) => {
        await using it = await behind(() => ({ status: 200, json }))
        for (const ask of questions(it.store)) {
          await expect(ask()).rejects.toThrow(StoreUnavailable)
        }
      })

      test('leaves out rows of another program in the same measurement', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await bucket.open()
        await writeRaw(bucket, `reading,area=Ikeja,sensor_id=${sensorId(1)} pm25=1.5 ${noon + 1}`)
        await store.writeBatch([reading()])
        expect(await everything(store)).toEqual([reading()])
        expect(await store.latest(sensorId(1), 9)).toEqual([reading()])
        expect((await store.computeOverall('Ikeja', early, late))?.readings).toBe(1)
      })

      test('for a stale statistic of an hour whose values went away shows none', async () => {
        const bucket = await (await influx()).newBucket()
        await using store = await bucket.open()
        const former = plainStats('Ikeja', noon, [reading()])
        const next = plainStats('Ikeja', noon, [reading({ pm25: null })])
        expect(rollupLine('reading_1h', next)).not.toMatch(/pm25_mean/)
        await store.writeAreaHours([former])
        await store.writeAreaHours([next])
        expect((await store.areaHours('Ikeja', early, late))[0]?.fields.pm25.mean).toBeNull()
      })
    })

    describe('a token for analysts', () => {
      test('reads, and is refused every write, delete and drop', async () => {
        const bucket = await (await influx()).newBucket()
        await using service = await bucket.open()
        await service.writeBatch([reading()])
        const token = await bucket.newReadToken()
        await using store = await openInfluxStore({ ...bucket, token })
        expect(await everything(store)).toEqual([reading()])
        await expect(store.writeBatch([reading({ pm25: 1 })])).rejects.toThrow(StoreMisconfigured)
        const analyst = transportOf(bucket, token)
        const q = new URLSearchParams({ q: 'DROP MEASUREMENT reading' }).toString()
        const drop = analyst.request(`/query?db=${bucket.bucket}`, q, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
        // a refusal of a statement comes with HTTP 200
        await expect(drop.then((answer) => JSON.stringify(answer))).resolves.toMatch(/"error"/)
        const span = { start: '2015-01-01T00:00:00Z', stop: '2031-01-01T00:00:00Z' }
        const remove = analyst.request(
          `/api/v2/delete?org=${bucket.org}&bucket=${bucket.bucket}`,
          span,
          { method: 'POST' },
        )
        await expect(remove).rejects.toMatchObject({ statusCode: 403 })
        expect(await everything(service)).toEqual([reading()])
      })
    })

    describe('a server killed by SIGKILL between acknowledged batches', () => {
      test('loses none of them and tears none', async () => {
        await using mine = await testInflux()
        const bucket = await mine.newBucket()
        await using store = await bucket.open()
        const acknowledged: Reading[][] = []
        let next = 0
        for (const killAfter of [5, 12, 3]) {
          const goal = acknowledged.length + killAfter
          const lane = async (): Promise<void> => {
            for (;;) {
              const batch = batchOf(next % 7, next, 300)
              next++
              await store.writeBatch(batch)
              acknowledged.push(batch)
            }
          }
          const lanes = [lane(), lane()]
          const ended = Promise.allSettled(lanes)
          while (acknowledged.length < goal) await new Promise((resolve) => setImmediate(resolve))
          await mine.kill()
          for (const end of await ended) {
            expect(end).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } })
          }
          await mine.restart()
          const rows = acknowledged.flat()
          expect(await store.existing(rows)).toEqual(rows)
          const all = await everything(store)
          expect(all.length % 300).toBe(0)
        }
      })
    })
  },
)
