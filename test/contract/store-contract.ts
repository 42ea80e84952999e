import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composeStats } from '../../api/areas/compose-stats.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { maskOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { noValues, statFields } from '../../store/stat-fields.ts'
import {
  type AreaStats,
  type Cursor,
  type Order,
  type StatQuery,
  type Store,
  StoreUnavailable,
} from '../../store/store.ts'
import { plainRows } from '../support/chaos/read-store.ts'
import { type Over } from '../support/readings.ts'
import {
  anyBatch,
  awkwardAreas,
  listing,
  newestFirst,
  oldestFirst,
  reading,
  sensorId,
} from './store-rows.ts'
import { expectSameStats, plainBuckets, plainStats } from './store-statistics.ts'
import {
  city,
  inOrder,
  nearly,
  plainSensors,
  staleHoursAreNotRead,
  stepsAreThoseOfTheRows,
} from './store-steps.ts'

/** Where one store lives, empty at first; may be opened again after it was closed. */
export type StorePlace = AsyncDisposable & { readonly open: () => Promise<Store> }

const noon = Date.UTC(2026, 2, 1, 12)
const early = Date.UTC(2015, 0, 1)
const late = Date.UTC(2031, 0, 1)

/** What every store must do. @param skipped why it cannot run here, if so */
export function storeContract(
  name: string,
  newPlace: () => Promise<StorePlace>,
  skipped?: string,
): void {
  /** A test on a store that is empty at first, opened once. */
  const onStore = test.extend<{ place: StorePlace; store: Store }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads from it what a fixture needs
    place: async ({}, use) => {
      await using place = await newPlace()
      await use(place)
    },
    store: async ({ place }, use) => {
      await using store = await place.open()
      await use(store)
    },
  })

  const reason = skipped === undefined ? '' : ` (skipped: ${skipped})`
  describe.skipIf(skipped !== undefined)(`${name}${reason}`, () => {
    describe('the list of sensors', () => {
      onStore('has what was written last of each sensor, and survives opening', async () => {
        await using place = await newPlace()
        {
          await using store = await place.open()
          expect(await store.listedSensors()).toEqual(new Map())
          const three = [listing(1, 'a', 2), listing(2, 'b'), listing(3, 'c')]
          await store.writeListings(three, [])
        }
        await using store = await place.open()
        expect(await store.listedSensors()).toEqual(
          new Map([
            [sensorId(1), 'a'],
            [sensorId(2), 'b'],
            [sensorId(3), 'c'],
          ]),
        )
        await store.writeListings([listing(1, 'a2')], [sensorId(1), sensorId(2)])
        expect(await store.listedSensors()).toEqual(
          new Map([
            [sensorId(1), 'a2'],
            [sensorId(3), 'c'],
          ]),
        )
        // not listed, and removed all the same
        await store.writeListings([], [sensorId(2)])
        expect((await store.listedSensors()).size).toBe(2)
      })
    })

    describe('writing', () => {
      onStore(
        'whatever a reading holds comes back bit for bit, by every way in',
        async ({ store }) => {
          // one store for all runs: a key is accepted once, so what an earlier run wrote is left out
          const written = new Set<string>()
          const isNew = ({ sensor, timeMs }: Reading): boolean => {
            const key = `${sensor} ${timeMs}`
            return !written.has(key) && written.add(key) !== undefined
          }
          await fc.assert(
            fc.asyncProperty(anyBatch, async (batch) => {
              const rows = batch.filter(isNew)
              expect(await store.writeBatch(rows)).toEqual([])
              expect(await store.existing(rows)).toEqual(rows)
              for (const row of rows.slice(0, 3)) {
                const { sensor, timeMs } = row
                expect(await store.at(sensor, timeMs)).toEqual(row)
                expect(await store.range(sensor, timeMs, timeMs + 1, 10)).toEqual([row])
                expect(await store.rangeAll(timeMs, timeMs + 1, 1000)).toContainEqual(row)
              }
            }),
            { numRuns: 15, seed: 20_260_301 },
          )
          expect(written.size).toBeGreaterThan(100)
        },
      )

      onStore('what was written is there after closing and opening again', async () => {
        await using place = await newPlace()
        const rows = [reading(), reading({ sensor: sensorId(2), pm25: null })]
        {
          await using store = await place.open()
          await store.writeBatch(rows)
        }
        await using again = await place.open()
        expect(await again.existing(rows)).toEqual(rows)
      })

      onStore('the same reading written again is one reading', async ({ store }) => {
        const row = reading()
        await store.writeBatch([row, row])
        await store.writeBatch([row])
        expect(await store.range(row.sensor, early, late, 10)).toEqual([row])
        expect(await store.rangeAll(early, late, 10)).toEqual([row])
        expect((await store.computeOverall('Ikeja', early, late))?.readings).toBe(1)
      })

      onStore('batches written side by side all land', async ({ store }) => {
        const batches = Array.from({ length: 8 }, (_, batch) =>
          Array.from({ length: 250 }, (__, i) =>
            reading({ sensor: sensorId(batch), timeMs: noon + i * minuteMs, seq: 1 + i }),
          ),
        )
        await Promise.all(batches.map(store.writeBatch))
        const found = await store.existing(batches.flat())
        expect(found).toEqual(batches.flat())
      })

      onStore(
        'a missing value is null, never 0, and a reading may have none at all',
        async ({ store }) => {
          const none = { pm25: null, pm10: null, co2: null, temperature: null, humidity: null }
          const rows = [
            reading({ ...none, aqi: null, timeMs: noon }),
            reading({ ...none, pm25: 0, aqi: 0, timeMs: noon + 1 }),
            reading({ temperature: -4000, timeMs: noon + 2 }),
          ]
          await store.writeBatch(rows)
          expect(await store.range(sensorId(1), early, late, 10)).toEqual(rows.toReversed())
        },
      )

      onStore(
        'the version of the leaf, back-fill and what a device signed come back as they were',
        async ({ store }) => {
          const hash = (text: string) => `0x${text.repeat(32)}` as const
          const texts = [
            'airproof.device.v1\nNGR-LOS-IKJ-001\n1750000000000\npm25=18.50',
            '"quoted" \\ back\\nslash\r\n\ttab, comma=1 \u0001 \u2028 Ẹ̀kọ́',
            '',
          ]
          const signed = texts.map((text, i) => ({
            ...reading({ timeMs: noon + i, seq: 1 + i }),
            leafVersion: 2 as const,
            device: hash(`a${i}`),
            signed: {
              algorithm: i === 1 ? ('p256' as const) : ('ed25519' as const),
              publicKey: Buffer.alloc(i === 1 ? 33 : 32, 0xf0 + i).toString('base64'),
              signature: Buffer.alloc(64, 0xe0 + i).toString('base64'),
              text,
            },
          }))
          const unsigned = { ...reading({ timeMs: noon + 9, seq: 9 }), leafVersion: 2 as const }
          const former = { ...reading({ timeMs: noon + 10, seq: 10 }), isBackfill: true as const }
          expect(await store.writeBatch([former, ...signed, unsigned])).toEqual([])
          await store.writeBatch(signed.slice(0, 1))
          const rows = [...plainRows(signed), unsigned, former]
          expect(await store.existing(rows)).toEqual(rows)
          expect(await store.range(sensorId(1), early, late, 9)).toEqual(rows.toReversed())
          expect(await store.rangeAll(early, late, 9)).toEqual(rows.toReversed())
          expect(await store.seedLatest()).toEqual([former])
          const read = await Promise.all(
            rows.map(({ sensor, timeMs }) => store.signature(sensor, timeMs)),
          )
          expect(read).toEqual([...signed.map((row) => row.signed), undefined, undefined])
          expect(await store.signature(sensorId(7), noon)).toBeUndefined()
        },
      )

      onStore('a device that is not a hash is refused', async ({ store }) => {
        const row = { ...reading(), leafVersion: 2 as const, device: '0xAB' as const }
        expect(await store.writeBatch([row])).toEqual([{ row, why: 'device is not a hash' }])
      })

      onStore('a sequence number of the last partition is exact', async ({ store }) => {
        const row = reading({ seq: 15 * 2 ** 40 + 123_456_789_012 })
        await store.writeBatch([row])
        expect((await store.at(row.sensor, row.timeMs))?.seq).toBe(row.seq)
      })

      onStore(
        'reads that nobody waits for are given up, and others are answered',
        async ({ store }) => {
          const rows = Array.from({ length: 5_000 }, (_, i) =>
            reading({ timeMs: noon + i * 1_000, seq: 1 + i }),
          )
          await store.writeBatch(rows)
          const gone = new AbortController()
          const given = store.within(gone.signal)
          expect((await given.computeOverall('Ikeja', early, late))?.readings).toBe(rows.length)
          const reads = [
            given.computeOverall('Ikeja', early, late),
            given.computeBuckets('Ikeja', noon, noon + dayMs, 'hour'),
            given.rangeAll(early, late, 1_000),
            given.at(sensorId(1), noon),
          ]
          const others = [store.at(sensorId(1), noon), store.latest(sensorId(1), 1)]
          const settled = Promise.allSettled(reads)
          gone.abort()
          const [overall] = await settled
          expect(overall).toMatchObject({
            status: 'rejected',
            reason: expect.any(StoreUnavailable),
          })
          await expect(given.at(sensorId(1), noon)).rejects.toThrow(StoreUnavailable)
          expect((await Promise.all(others)).flat()).toEqual([rows[0], rows.at(-1)])
          expect((await store.computeOverall('Ikeja', early, late))?.readings).toBe(rows.length)
        },
      )

      onStore('an empty batch is no work', async ({ store }) => {
        expect(await store.writeBatch([])).toEqual([])
        expect(await store.rangeAll(early, late, 10)).toEqual([])
      })

      const unfit: [string, Over][] = [
        ['a fraction of a hundredth', { pm25: 1.5 }],
        ['a value that is not a number', { humidity: Number.NaN }],
        ['an infinite value', { co2: Number.POSITIVE_INFINITY }],
        ['a fractional index', { aqi: 12.5 }],
        ['a fractional time', { timeMs: noon + 0.5 }],
        ['a time before 1970', { timeMs: -1 }],
        ['a time in the year 2300', { timeMs: Date.UTC(2300, 0, 1) }],
        ['a sequence number that is not exact', { seq: 2 ** 53 }],
        ['no area', { area: '' }],
        ['an area over two lines', { area: 'Ikeja\nreading,area=x pm25=1' }],
        ['an area that ends in a backslash', { area: 'Ikeja\\' }],
        ['an area of half a character', { area: '\ud83c' }],
        ['the area that stands for the whole network', { area: wholeNetwork }],
      ]
      onStore.for(unfit)(
        '%s is refused with a reason, and the rest is written',
        async ([, over], { store }) => {
          const good = reading()
          const bad = reading({ timeMs: noon + 1, ...over })
          const refused = await store.writeBatch([bad, good])
          expect(refused.map(({ row }) => row)).toEqual([bad])
          expect(refused[0]!.why).toMatch(/\w+ (is not|holds|_all is the name)/)
          expect(await store.rangeAll(0, late, 10)).toEqual([good])
        },
      )
    })

    describe('asking', () => {
      onStore('an empty store answers everything with nothing', async ({ store }) => {
        await store.ping()
        expect(await store.existing([reading()])).toEqual([undefined])
        expect(await store.existing([])).toEqual([])
        expect(await store.latest(sensorId(1), 5)).toEqual([])
        expect(await store.range(sensorId(1), early, late, 5)).toEqual([])
        expect(await store.rangeAll(early, late, 5)).toEqual([])
        expect(await store.at(sensorId(1), noon)).toBeUndefined()
        expect(await store.seedLatest()).toEqual([])
        expect(await store.computeBuckets('Ikeja', noon, noon + dayMs, 'hour')).toEqual([])
        expect(await store.computeOverall('Ikeja', noon, noon + dayMs)).toBeUndefined()
        expect(await store.computeOverall(wholeNetwork, noon, noon + dayMs)).toBeUndefined()
        expect(await store.areaHours('Ikeja', early, late)).toEqual([])
        expect(await store.areaDays(wholeNetwork, early, late)).toEqual([])
      })

      onStore(
        'existing answers in the order of the keys, however far apart they lie',
        async ({ store }) => {
          const times = [noon, noon - 400 * dayMs, noon + 1, noon - 5 * hourMs, early, noon - dayMs]
          const rows = [1, 2, 3].flatMap((n) =>
            times.map((timeMs, i) => reading({ sensor: sensorId(n), timeMs, pm25: n * 100 + i })),
          )
          await store.writeBatch(rows)
          const absent = [
            { sensor: sensorId(1), timeMs: noon - 1 },
            { sensor: sensorId(1), timeMs: noon + 2 },
            { sensor: sensorId(99), timeMs: noon },
          ]
          const keys = [absent[0]!, ...rows, absent[1]!, ...rows.toReversed(), absent[2]!]
          expect(await store.existing(keys)).toEqual([
            undefined,
            ...rows,
            undefined,
            ...rows.toReversed(),
            undefined,
          ])
        },
      )

      onStore('existing finds one reading each of many sensors', async ({ store }) => {
        const rows = Array.from({ length: 600 }, (_, n) =>
          reading({ sensor: sensorId(n), timeMs: noon + n, pm25: n }),
        )
        await store.writeBatch(rows)
        const absent = rows.map(({ sensor, timeMs }) => ({ sensor, timeMs: timeMs + 1 }))
        expect(await store.existing([...rows, ...absent])).toEqual([
          ...rows,
          ...absent.map(() => undefined),
        ])
      })

      onStore('latest is by the time of reading, not of writing', async ({ store }) => {
        const rows = [0, 1, 2, 3].map((i) => reading({ timeMs: noon + i * minuteMs, pm25: i }))
        const backFilled = reading({ timeMs: noon - 90 * dayMs })
        await store.writeBatch(rows)
        await store.writeBatch([backFilled, reading({ sensor: sensorId(2), timeMs: late - 1 })])
        expect(await store.latest(sensorId(1), 2)).toEqual([rows[3], rows[2]])
        expect(await store.latest(sensorId(1), 99)).toEqual([...rows.toReversed(), backFilled])
        expect(await store.latest(sensorId(3), 99)).toEqual([])
      })

      onStore(
        'the latest of a sensor silent for years is found, and of one ahead of time',
        async ({ store }) => {
          const silent = reading({ timeMs: early })
          const ahead = reading({ sensor: sensorId(2), timeMs: late - 1 })
          await store.writeBatch([silent, ahead])
          expect(await store.latest(sensorId(1), 1)).toEqual([silent])
          expect(await store.latest(sensorId(2), 1)).toEqual([ahead])
        },
      )

      onStore('a range holds its start and not its end, to the ms', async ({ store }) => {
        const rows = [-1, 0, 1, 59_999, 60_000].map((ms) => reading({ timeMs: noon + ms }))
        await store.writeBatch(rows)
        const [, start, second, last] = rows
        const wanted = [last, second, start]
        expect(await store.range(sensorId(1), noon, noon + minuteMs, 10)).toEqual(wanted)
        expect(await store.rangeAll(noon, noon + minuteMs, 10)).toEqual(wanted)
        expect(await store.range(sensorId(1), noon, noon, 10)).toEqual([])
        expect(await store.rangeAll(noon + 1, noon, 10)).toEqual([])
      })

      onStore('oldest first a range has the same bounds', async ({ store }) => {
        const rows = [-1, 0, 1, 59_999, 60_000].map((ms) => reading({ timeMs: noon + ms }))
        await store.writeBatch(rows)
        const wanted = rows.slice(1, 4)
        const [from, to] = [noon, noon + minuteMs]
        expect(await store.range(sensorId(1), from, to, 10, 'asc')).toEqual(wanted)
        expect(await store.range(sensorId(1), from, to, 2, 'asc')).toEqual(wanted.slice(0, 2))
        expect(await store.rangeAll(from, to, 10, undefined, 'asc')).toEqual(wanted)
        expect(await store.range(sensorId(1), noon, noon, 10, 'asc')).toEqual([])
        expect(await store.rangeAll(noon, to, 0, undefined, 'asc')).toEqual([])
        const given = store.within(new AbortController().signal)
        expect(await given.rangeAll(early, late, 2, undefined, 'asc')).toEqual(rows.slice(0, 2))
      })

      onStore('a limit of 0 is no reading, not all of them', async ({ store }) => {
        await store.writeBatch([reading()])
        expect(await store.latest(sensorId(1), 0)).toEqual([])
        expect(await store.range(sensorId(1), early, late, 0)).toEqual([])
        expect(await store.rangeAll(early, late, 0)).toEqual([])
      })

      onStore(
        'pages of a range, each ending where the next begins, hold every reading once',
        async ({ store }) => {
          const rows = Array.from({ length: 23 }, (_, i) => reading({ timeMs: noon + i * 300_000 }))
          await store.writeBatch(rows)
          const found: Reading[] = []
          for (let to = late; ; ) {
            const page = await store.range(sensorId(1), early, to, 5)
            found.push(...page)
            if (page.length < 5) break
            to = page.at(-1)!.timeMs
          }
          expect(found).toEqual(rows.toReversed())
        },
      )

      const sizes = [1, 2, 3, 7, 10, 1000]
      const orders: Order[] = ['desc', 'asc']
      onStore.for(orders.flatMap((order) => sizes.map((size) => [size, order] as const)))(
        'pages of %i through everyone hold every reading once, in order, through ties of one ms: %s',
        async ([size, order], { store }) => {
          // five sensors at the very same instants, one that is alone, and gaps
          const rows = [0, 1, 2, 5].flatMap((minute) =>
            [5, 3, 1, 4, 2].map((n) =>
              reading({ sensor: sensorId(n), timeMs: noon + minute * minuteMs, pm25: n }),
            ),
          )
          rows.push(reading({ sensor: sensorId(6), timeMs: noon + 3 * minuteMs + 1 }))
          await store.writeBatch(rows)
          const found: Reading[] = []
          for (let cursor: Cursor | undefined; ; ) {
            const page = await store.rangeAll(early, late, size, cursor, order)
            expect(page.length).toBeLessThanOrEqual(size)
            found.push(...page)
            if (page.length < size) break
            const { timeMs, sensor } = page.at(-1)!
            cursor = { timeMs, sensor }
          }
          expect(found).toEqual((order === 'asc' ? oldestFirst : newestFirst)(rows))
        },
      )

      onStore(
        'a cursor keeps within the bounds, and may name a reading that is not there',
        async ({ store }) => {
          const rows = [1, 3, 5].map((n) => reading({ sensor: sensorId(n) }))
          const older = reading({ timeMs: noon - 1 })
          await store.writeBatch([...rows, older])
          const after = { timeMs: noon, sensor: sensorId(3) }
          expect(await store.rangeAll(early, late, 9, after)).toEqual([rows[2], older])
          expect(await store.rangeAll(noon, late, 9, after)).toEqual([rows[2]])
          expect(await store.rangeAll(early, noon, 9, after)).toEqual([older])
          const between = { timeMs: noon, sensor: sensorId(2) }
          expect(await store.rangeAll(early, late, 1, between)).toEqual([rows[1]])
          const ofAsc = async (from: number, to: number, limit: number, cursor: Cursor) =>
            await store.rangeAll(from, to, limit, cursor, 'asc')
          const newer = reading({ timeMs: noon + 1 })
          await store.writeBatch([newer])
          expect(await ofAsc(early, late, 9, after)).toEqual([rows[2], newer])
          expect(await ofAsc(noon + 1, late, 9, after)).toEqual([newer])
          expect(await ofAsc(early, noon + 1, 9, after)).toEqual([rows[2]])
          expect(await ofAsc(early, late, 1, between)).toEqual([rows[1]])
          const past = { timeMs: noon - 5, sensor: sensorId(9) }
          expect(await ofAsc(early, late, 2, past)).toEqual([older, rows[0]])
          const before = { timeMs: noon + 5, sensor: sensorId(2) }
          expect(await store.rangeAll(early, late, 2, before)).toEqual([newer, rows[0]])
        },
      )

      onStore(
        'the newest of every sensor is one each, also of one that moved',
        async ({ store }) => {
          const moved = reading({ area: 'Yaba', timeMs: noon + minuteMs, pm25: null, aqi: null })
          const others = [2, 3].map((n) =>
            reading({ sensor: sensorId(n), timeMs: noon - n * dayMs }),
          )
          const silent = reading({ sensor: sensorId(4), timeMs: early })
          await store.writeBatch([moved, ...others, silent])
          await store.writeBatch([reading(), reading({ sensor: sensorId(2), timeMs: early })])
          const found = await store.seedLatest()
          expect(newestFirst(found)).toEqual(newestFirst([moved, ...others, silent]))
        },
      )
    })

    describe('names', () => {
      onStore(
        'every awkward area keeps its name, and its statistics to itself',
        async ({ store }) => {
          const rows = awkwardAreas.map((area, n) =>
            reading({ sensor: sensorId(n), area, pm25: 100 * n }),
          )
          await store.writeBatch([...rows, reading({ sensor: sensorId(500) })])
          expect(await store.existing(rows)).toEqual(rows)
          for (const row of rows) {
            const wanted = [plainStats(row.area, noon, [row])]
            expectSameStats(
              await store.computeBuckets(row.area, noon, noon + hourMs, 'hour'),
              wanted,
            )
            await store.writeAreaHours(wanted)
            expect(await store.areaHours(row.area, noon, noon + hourMs)).toEqual(wanted)
          }
        },
      )

      onStore.for([
        "Ikeja' OR area = 'Yaba",
        "x' OR 1=1 --",
        "x'; DROP MEASUREMENT reading; --",
        "x'; drop table reading; --",
        '$s',
        '*',
        '%',
        '/.*/',
        'Ikeja" or "1"="1',
      ])('to ask for the area %s finds nothing and breaks nothing', async (area, { store }) => {
        const rows = [reading(), reading({ sensor: sensorId(2), area: 'Yaba' })]
        await store.writeBatch(rows)
        expect(await store.computeOverall(area, noon, noon + hourMs)).toBeUndefined()
        expect(await store.computeBuckets(area, noon, noon + hourMs, 'hour')).toEqual([])
        expect(await store.areaHours(area, early, late)).toEqual([])
        expect(await store.existing(rows)).toEqual(rows)
      })
    })

    describe('statistics', () => {
      const anyFlags = fc.constantFrom(
        0,
        0,
        0,
        maskOf('pm_stuck'),
        maskOf('pm_spike'),
        maskOf('dropped_pm10'),
      )
      const spread = (count: number, seed: number): Reading[] =>
        fc.sample(
          fc
            .record({
              n: fc.integer({ min: 1, max: 9 }),
              area: fc.constantFrom('Ikeja', 'Yaba', 'Lekki, Phase 1'),
              ms: fc.integer({ min: 0, max: 3 * dayMs - 1 }),
              pm25: fc.option(fc.integer({ min: 0, max: 30_000 })),
              co2: fc.option(fc.integer({ min: 30_000, max: 4_000_000 }), { freq: 1 }),
              temperature: fc.option(fc.integer({ min: -500, max: 4500 })),
              aqi: fc.option(fc.integer({ min: 0, max: 500 })),
              flags: anyFlags,
            })
            .map(({ n, ms, ...values }) =>
              reading({ sensor: sensorId(n), timeMs: noon + ms, ...values, humidity: null }),
            ),
          { numRuns: count, seed },
        )
      /** The last of each key, as the store keeps it. */
      const once = (rows: readonly Reading[]): Reading[] => [
        ...new Map(rows.map((row) => [`${row.sensor} ${row.timeMs}`, row])).values(),
      ]

      onStore(
        'hours, days and the whole span agree with a plain recomputation',
        async ({ store }) => {
          const rows = once(spread(1500, 7))
          await store.writeBatch(rows)
          const midnight = noon - 12 * hourMs
          const end = midnight + 4 * dayMs
          for (const area of ['Ikeja', 'Lekki, Phase 1', wholeNetwork]) {
            const mine = rows.filter((row) => area === wholeNetwork || row.area === area)
            expectSameStats(
              await store.computeBuckets(area, midnight, end, 'hour'),
              plainBuckets(area, mine, hourMs),
            )
            expectSameStats(
              await store.computeBuckets(area, midnight, end, 'day'),
              plainBuckets(area, mine, dayMs),
            )
            const from = noon + 90 * minuteMs + 1
            const within = mine.filter(({ timeMs }) => timeMs >= from && timeMs < from + dayMs)
            expectSameStats(
              await store.computeBuckets(area, midnight, end, 'hour', 'all'),
              plainBuckets(area, mine, hourMs, 'all'),
            )
            const overall = await store.computeOverall(area, from, from + dayMs)
            expect(overall?.startMs).toBe(from)
            expectSameStats([overall!], [plainStats(area, from, within)])
          }
        },
      )

      onStore(
        'median and 98th percentile are right for every count from 1 to 60',
        async ({ store }) => {
          const rows = Array.from({ length: 60 }, (_, hour) =>
            Array.from({ length: hour + 1 }, (__, i) =>
              // a stride that is prime to every count: written in no order, all values different
              reading({
                timeMs: noon + hour * hourMs + i * 1000,
                pm25: ((i * 61) % 97) * 10,
                aqi: i,
              }),
            ),
          ).flat()
          await store.writeBatch(rows)
          const found = await store.computeBuckets('Ikeja', noon, noon + 60 * hourMs, 'hour')
          expect(found.map(({ readings }) => readings)).toEqual(
            rows.map((_, i) => i + 1).slice(0, 60),
          )
          expectSameStats(found, plainBuckets('Ikeja', rows, hourMs))
        },
      )

      const overallAreas = ['Ikeja', 'Lekki, Phase 1', wholeNetwork]
      const hourStarts = Array.from({ length: 74 }, (_, at) => noon + (at - 1) * hourMs)
      const emptyFields = Object.fromEntries(statFields.map((field) => [field, noValues]))
      const keepHours = async (store: Store, area: string): Promise<void> => {
        await store.writeAreaHours(await store.computeBuckets(area, noon, noon + 3 * dayMs, 'hour'))
        for (const start of hourStarts) await store.keepHourValues(area, start)
      }

      onStore(
        'a span is the same to the last bit, whichever of its hours are read from readings',
        async ({ store }) => {
          await store.writeBatch(once(spread(1500, 11)))
          for (const area of overallAreas) await keepHours(store, area)
          await fc.assert(
            fc.asyncProperty(
              fc.constantFrom(...overallAreas, 'Nowhere'),
              fc.integer({ min: -hourMs, max: 3 * dayMs }),
              fc.integer({ min: 1, max: 30 * hourMs }),
              fc.subarray(hourStarts),
              async (area, after, lengthMs, open) => {
                const span = [area, noon + after, noon + after + lengthMs] as const
                expect(await store.computeOverall(...span, new Set(open))).toEqual(
                  await store.computeOverall(...span),
                )
              },
            ),
            { numRuns: 60 },
          )
        },
      )

      onStore(
        'days of hours are composed in the store as they are composed of its rows',
        async ({ store }) => {
          const rows = once(spread(1500, 13))
          await store.writeBatch(rows)
          for (const area of overallAreas) await keepHours(store, area)
          const hour = (timeMs: number): number => Math.floor(timeMs / hourMs) * hourMs
          await fc.assert(
            fc.asyncProperty(
              fc.constantFrom(...overallAreas),
              fc.integer({ min: 1, max: dayMs }),
              fc.integer({ min: dayMs, max: 2 * dayMs }),
              fc.subarray(hourStarts),
              async (area, after, lengthMs, open) => {
                const [fromMs, toMs] = [noon + after, noon + after + lengthMs]
                const [firstMs, lastMs] = [hour(fromMs + hourMs - 1), hour(toMs)]
                const parts = [
                  await store.computeOverall(area, fromMs, firstMs),
                  ...(await store.areaHours(area, firstMs, lastMs)),
                  await store.computeOverall(area, lastMs, toMs),
                ]
                const whole = composeStats(parts.filter((part) => part !== undefined))
                const [step] = await store.statistics({
                  of: { area },
                  edges: [fromMs, toMs],
                  steps: [0],
                  fields: statFields,
                  from: 'hour',
                  unwritten: new Set(open),
                  writtenFromMs: 0,
                })
                expect(step?.readings).toBe(whole?.readings)
                expect(step?.leftOut).toBe(whole?.failed)
                expect({ ...emptyFields, ...step?.fields }).toEqual(whole?.fields)
              },
            ),
            { numRuns: 30 },
          )
        },
      )

      onStore(
        'what an hour held before a late reading counts no more once its statistics are written',
        async ({ store }) => {
          const rows = once(spread(300, 12))
          const late = reading({ timeMs: noon + 90 * minuteMs + 1, pm25: 29_999, aqi: 499 })
          const open = new Set<number>()
          const span = ['Ikeja', noon, noon + dayMs] as const
          await store.writeBatch(rows)
          await keepHours(store, 'Ikeja')
          await store.writeBatch([late])
          await store.writeAreaHours(await store.computeBuckets(...span, 'hour'))
          const whole = await store.computeOverall(...span)
          expect(whole?.fields.pm25.max).toBe(299.99)
          expect(await store.computeOverall(...span, open)).toEqual(whole)
          await store.keepHourValues('Ikeja', noon + hourMs)
          expect(await store.computeOverall(...span, open)).toEqual(whole)
        },
      )

      onStore('the values of an hour take the place of its readings', async ({ store }) => {
        const rows = Array.from({ length: 40_000 }, (_, at) =>
          reading({
            sensor: sensorId(1 + (at % 9)),
            timeMs: noon + Math.floor(at / 9) * 500 + (at % 9),
            // no two alike, so that they take more than a field of InfluxDB holds
            pm25: (at * 7_919) % 40_009,
            pm10: (at * at * 31) % 3_000_017,
            co2: 40_000 + ((at * at * 17) % 4_000_037),
          }),
        )
        for (let at = 0; at < rows.length; at += 10_000)
          await store.writeBatch(rows.slice(at, at + 10_000))
        const span = ['Ikeja', noon, noon + hourMs] as const
        const whole = await store.computeOverall(...span)
        await store.writeAreaHours(await store.computeBuckets(...span, 'hour'))
        await store.keepHourValues('Ikeja', noon)
        const sensors = [...new Set(rows.map(({ sensor }) => sensor))]
        const all = sensors.map((sensor) => ({ sensor, lastSeq: Number.MAX_SAFE_INTEGER }))
        await store.deleteReadings(all, noon, noon + hourMs)
        expect(await store.computeOverall(...span)).toBeUndefined()
        expect(await store.computeOverall(...span, new Set())).toEqual(whole)
      })

      onStore(
        'a bucket counts its readings, and leaves out what none of them measured',
        async ({ store }) => {
          await store.writeBatch([
            reading({ pm25: null, aqi: null, co2: null }),
            reading({ sensor: sensorId(2), pm25: null, aqi: null }),
          ])
          const [hour] = await store.computeBuckets(wholeNetwork, noon, noon + hourMs, 'hour')
          expect(hour?.readings).toBe(2)
          expect(hour?.fields.pm25).toEqual(noValues)
          expect(hour?.fields.co2.n).toBe(1)
        },
      )

      onStore('an hour holds its first ms and not the first of the next', async ({ store }) => {
        const rows = [-1, 0, hourMs - 1, hourMs].map((ms) => reading({ timeMs: noon + ms }))
        await store.writeBatch(rows)
        const found = await store.computeBuckets('Ikeja', noon - hourMs, noon + 2 * hourMs, 'hour')
        expect(found.map(({ startMs, readings }) => [startMs - noon, readings])).toEqual([
          [-hourMs, 1],
          [0, 2],
          [hourMs, 1],
        ])
        const only = await store.computeBuckets('Ikeja', noon, noon + hourMs, 'hour')
        expect(only.map(({ readings }) => readings)).toEqual([2])
      })
    })

    describe('hours and days of sensors', () => {
      const sensors = [1, 2, 3].map(sensorId)
      const span = [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 5)] as const

      onStore('are computed from the rows of each, wherever it was', async ({ store }) => {
        const rows = city()
        await store.writeBatch(rows)
        for (const size of ['hour', 'day'] as const) {
          const found = await store.computeSensors([...sensors, sensorId(88)], ...span, size)
          expect(nearly(inOrder(found))).toEqual(nearly(plainSensors(rows, sensors, size)))
        }
        expect(await store.computeSensors([], ...span, 'hour')).toEqual([])
      })

      onStore('come back as written, and replace former ones', async ({ store }) => {
        const rows = city()
        await store.writeBatch(rows)
        const hours = await store.computeSensors(sensors, ...span, 'hour')
        const few = await store.computeSensors(sensors, span[0], span[0] + hourMs, 'hour')
        for (const written of [few, hours, hours, []]) await store.writeSensorHours(written)
        const edges = Array.from({ length: 97 }, (_, hour) => span[0] + hour * hourMs)
        for (const sensor of sensors) {
          const found = await store.statistics({
            of: { sensors: [sensor] },
            edges,
            steps: edges.slice(1).map((_, at) => at),
            fields: statFields,
            from: 'hour',
            unwritten: new Set(),
            writtenFromMs: 0,
          })
          const wanted = hours
            .filter((stats) => stats.sensor === sensor)
            .map(({ startMs, readings, failed, fields }) => ({
              step: (startMs - span[0]) / hourMs,
              readings,
              leftOut: failed,
              fields: Object.fromEntries(Object.entries(fields).filter(([, { n }]) => n > 0)),
            }))
          expect(found).toEqual(wanted)
        }
      })

      onStore('lose what failed, also where it was written before', async ({ store }) => {
        const [sensor] = sensors
        if (sensor === undefined) throw new Error('there are sensors')
        const stuck = [0, 1].map((n) =>
          reading({ timeMs: noon + n, pm25: 900, flags: maskOf('pm_stuck') }),
        )
        await store.writeBatch(stuck)
        const { area: _, ...before } = plainStats('', noon, stuck, 'all')
        await store.writeSensorHours([{ sensor, ...before, failed: null }])
        const ask = async () =>
          store.statistics({
            of: { sensors: [sensor] },
            edges: [noon, noon + hourMs],
            steps: [0],
            fields: ['pm25', 'humidity'],
            from: 'hour',
            unwritten: new Set(),
            writtenFromMs: 0,
          })
        expect(await ask()).toMatchObject([{ readings: 2, leftOut: null, fields: { pm25: {} } }])
        const made = await store.computeSensors([sensor], noon, noon + hourMs, 'hour')
        await store.writeSensorHours(made)
        expect(await ask()).toEqual([{ step: 0, readings: 0, leftOut: 2, fields: {} }])
        const good = reading({ timeMs: noon + 2, pm25: 700, humidity: null })
        await store.writeBatch([good])
        await store.writeSensorHours(
          await store.computeSensors([sensor], noon, noon + hourMs, 'hour'),
        )
        const [step] = await ask()
        expect(step).toMatchObject({ readings: 1, leftOut: 2, fields: { pm25: { n: 1, mean: 7 } } })
        expect(step?.fields).not.toHaveProperty('humidity')
      })

      onStore('whose sensors and areas have names', async ({ store }) => {
        expect(await store.names()).toEqual({ sensors: [], areas: [] })
        await store.writeBatch(city())
        const { sensors: found, areas } = await store.names()
        expect(found.toSorted()).toEqual(sensors)
        expect(areas.toSorted()).toEqual(['Ikeja', 'Yaba'])
      })

      onStore('make steps of any length, which are those of the rows', async ({ store }) =>
        stepsAreThoseOfTheRows(store),
      )

      onStore('are not read where they are not up to date', async ({ store }) =>
        staleHoursAreNotRead(store),
      )

      onStore('are not read for a caller who has gone', async ({ store }) => {
        const query: StatQuery = {
          of: { sensors },
          edges: [...span],
          steps: [0],
          fields: ['pm25'],
          from: 'readings',
          unwritten: new Set(),
          writtenFromMs: 0,
        }
        const asked = store.within(AbortSignal.abort()).statistics(query)
        await expect(asked).rejects.toThrow(StoreUnavailable)
      })
    })

    describe('roll-ups', () => {
      const hour = (startMs: number, area = 'Ikeja', rows = [reading()]): AreaStats =>
        plainStats(area, startMs, rows)

      onStore(
        'come back as written, oldest first, of their area and their size alone',
        async ({ store }) => {
          const hours = [3, 1, 2].map((i) => hour(noon + i * hourMs))
          const network = hour(noon + hourMs, wholeNetwork, [reading(), reading({ pm25: 7 })])
          await store.writeAreaHours([...hours, network])
          await store.writeAreaDays([hour(noon - 12 * hourMs, 'Ikeja', [reading({ co2: null })])])
          expect(await store.areaHours('Ikeja', early, late)).toEqual([
            hours[1],
            hours[2],
            hours[0],
          ])
          expect(await store.areaHours(wholeNetwork, early, late)).toEqual([network])
          const days = await store.areaDays('Ikeja', early, late)
          expect(days.map(({ startMs, fields }) => [startMs, fields.co2.n])).toEqual([
            [noon - 12 * hourMs, 0],
          ])
          const bounded = await store.areaHours('Ikeja', noon + hourMs, noon + 3 * hourMs)
          expect(bounded).toEqual([hours[1], hours[2]])
        },
      )

      onStore('written again replace the former one whole', async ({ store }) => {
        const former = hour(noon, 'Ikeja', [reading(), reading({ pm25: 99 })])
        const next = hour(noon, 'Ikeja', [reading({ pm25: null, aqi: null, humidity: 1 })])
        for (const rows of [former, next, next]) {
          await store.writeAreaHours([rows])
          await store.writeAreaDays([rows])
        }
        expect(await store.areaHours('Ikeja', early, late)).toEqual([next])
        expect(await store.areaDays('Ikeja', early, late)).toEqual([next])
      })

      onStore('of an earlier version do not know what failed', async ({ store }) => {
        const old = { ...hour(noon), failed: null }
        const next = hour(noon + hourMs, 'Ikeja', [
          reading(),
          reading({ flags: maskOf('pm_stuck') }),
        ])
        await store.writeBatch([reading()])
        await store.writeAreaHours([old, next])
        expect(await store.areaHours('Ikeja', early, late)).toEqual([old, next])
        const ask = async (fromMs: number) =>
          store.statistics({
            of: { area: 'Ikeja' },
            edges: [fromMs, noon + 2 * hourMs],
            steps: [0],
            fields: ['pm25'],
            from: 'hour',
            unwritten: new Set(),
            writtenFromMs: 0,
          })
        expect(await ask(noon)).toMatchObject([{ readings: 2, leftOut: null }])
        expect(await ask(noon + hourMs)).toMatchObject([{ readings: 1, leftOut: 1 }])
        await store.writeAreaHours([hour(noon)])
        expect(await ask(noon)).toMatchObject([{ readings: 2, leftOut: 1 }])
      })

      onStore('of a computed day round-trip without a digit lost', async ({ store }) => {
        const rows = Array.from({ length: 700 }, (_, i) =>
          reading({ timeMs: noon + i * minuteMs, pm25: (i * 7919) % 30_011, temperature: -i }),
        )
        await store.writeBatch(rows)
        const computed = await store.computeBuckets(wholeNetwork, noon, noon + dayMs, 'hour')
        await store.writeAreaHours(computed)
        expect(await store.areaHours(wholeNetwork, noon, noon + dayMs)).toEqual(computed)
      })

      onStore('none to write is no work', async ({ store }) => {
        await store.writeAreaHours([])
        await store.writeAreaDays([])
        expect(await store.areaHours('Ikeja', early, late)).toEqual([])
      })
    })

    describe('deleting', () => {
      const [from, to] = [noon - 12 * hourMs, noon + 12 * hourMs]
      const row = (sensor: number, timeMs: number, seq: number) =>
        reading({ sensor: sensorId(sensor), timeMs, seq })

      onStore(
        'takes the readings of a day, of the sensors that are named, and nothing else',
        async ({ store }) => {
          const gone = [row(1, from, 2), row(1, noon, 3), row(1, to - 1, 4), row(2, noon, 1)]
          const stay = [row(1, from - 1, 1), row(1, to, 5), row(3, noon, 1)]
          await store.writeBatch([...gone, ...stay])
          const hours = await store.computeBuckets(wholeNetwork, from, to, 'hour')
          await store.writeAreaHours(hours)
          const of = [1, 2, 9].map((sensor) => ({ sensor: sensorId(sensor), lastSeq: 100 }))
          for (let again = 0; again < 2; again++) {
            await store.deleteReadings(of, from, to)
            expect(await store.existing([...gone, ...stay])).toEqual([
              ...gone.map(() => undefined),
              ...stay,
            ])
          }
          expect(await store.areaHours(wholeNetwork, from, to)).toEqual(hours)
          // what comes after that is a reading as any other
          await store.writeBatch(gone)
          expect(await store.existing(gone)).toEqual(gone)
        },
      )

      onStore('takes what a device signed with its reading', async ({ store }) => {
        const signed = {
          algorithm: 'ed25519' as const,
          publicKey: Buffer.alloc(32, 1).toString('base64'),
          signature: Buffer.alloc(64, 2).toString('base64'),
          text: 'a text',
        }
        const device = `0x${'0f'.repeat(32)}` as const
        const rows = [noon, to].map((timeMs, i) => ({
          ...reading({ timeMs, seq: i + 1 }),
          leafVersion: 2 as const,
          device,
          signed,
        }))
        await store.writeBatch(rows)
        await store.deleteReadings([{ sensor: sensorId(1), lastSeq: 9 }], from, to)
        expect(await store.signature(sensorId(1), noon)).toBeUndefined()
        expect(await store.signature(sensorId(1), to)).toEqual(signed)
      })

      onStore('spares a later number, where the engine can', async ({ store }) => {
        const [old, late] = [row(1, noon, 5), row(1, noon + 1, 6)]
        await store.writeBatch([old, late])
        await store.deleteReadings([{ sensor: sensorId(1), lastSeq: 5 }], from, to)
        const left = store.deletesByTime ? undefined : late
        expect(await store.existing([old, late])).toEqual([undefined, left])
      })

      onStore('leaves room that is used again, and a file no larger', async ({ store }) => {
        const day = (at: number) =>
          Array.from({ length: 2_000 }, (_, i) => row(i % 10, from + at * dayMs + i, i + 1))
        const of = Array.from({ length: 10 }, (_, i) => ({ sensor: sensorId(i), lastSeq: 1e9 }))
        const unused: (number | undefined)[] = []
        for (let at = 0; at < 5; at++) {
          await store.writeBatch(day(at))
          await store.deleteReadings(of, from + at * dayMs, from + (at + 1) * dayMs)
          unused.push(await store.unusedBytes())
        }
        const [first] = unused
        expect(first === undefined).toBe(store.deletesByTime)
        expect(unused.at(-1) ?? 0).toBeLessThanOrEqual(1.2 * (first ?? 0))
        expect(await store.rangeAll(early, late, 1)).toEqual([])
      })
    })
  })
}
