/** What the operator lets go: only what the archive proves, and nothing that the archive does not have. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { dayMs } from '../../core/time.ts'
import { retentionIn } from '../../runtime/nats/retention.ts'
import { type RetentionCity, retentionCity } from '../support/retention-city.ts'

const opened = new AsyncDisposableStack()
const days = 60
const rawDays = 7
let lived: RetentionCity
/** After each step. */
const sizes: { rows: number; unused: number }[] = []

const rowsIn = async ({ city, firstMs }: RetentionCity): Promise<number> => {
  let rows = 0
  for (let day = 0; day < days; day++)
    rows += (await city.store.rangeAll(firstMs + day * dayMs, firstMs + (day + 1) * dayMs, 1e6))
      .length
  return rows
}

beforeAll(async () => {
  lived = opened.use(await retentionCity(days, { rawDays, blobDays: rawDays }))
  const expiry = lived.expiry()
  for (let day = 0; day < days; day += 4) {
    await lived.live(4)
    await lived.archive()
    await lived.expire(expiry)
    sizes.push({
      rows: await rowsIn(lived),
      unused: (await lived.city.store.unusedBytes()) ?? 0,
    })
  }
})
afterAll(() => opened.disposeAsync())

test('over 60 days the store has a week of readings, and the room of those before is used again', async () => {
  // it is looked at after four days more
  expect(sizes.at(-1)?.rows).toBe(rawDays * 400)
  expect(Math.max(...sizes.map(({ rows }) => rows))).toBeLessThanOrEqual((rawDays + 4) * 400)
  // never more than the four days that went last, whose room the next four take
  const unused = sizes.map((size) => size.unused)
  expect(unused.at(-1)).toBeGreaterThan(0)
  expect(Math.max(...unused)).toBeLessThan(4 * 400 * 100)
  const { rawBeforeMs } = await retentionIn(lived.system)
  expect(rawBeforeMs).toBe(lived.firstMs + (days - rawDays) * dayMs)
})

test('hours and days of all days are there', async () => {
  const { city, firstMs } = lived
  const hours = await city.store.areaHours(wholeNetwork, firstMs, firstMs + days * dayMs)
  expect(hours).toHaveLength(4 * days)
  const whole = await city.store.areaDays(wholeNetwork, firstMs, firstMs + days * dayMs)
  expect(whole.map(({ readings }) => readings)).toEqual(Array.from({ length: days }, () => 400))
})
