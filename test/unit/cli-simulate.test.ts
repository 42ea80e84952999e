import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backFill } from '../../cli/simulate/back-fill.ts'
import { chanceOf } from '../../cli/simulate/chance.ts'
import { type CitySensor, planCity } from '../../cli/simulate/city.ts'
import { type CityLifeOptions, openCityLife } from '../../cli/simulate/city-life.ts'
import { conditionAt } from '../../cli/simulate/condition.ts'
import { risingSensor, silentSensor } from '../../cli/simulate/demonstration.ts'
import { dirt, withDirt } from '../../cli/simulate/dirt.ts'
import { type Measured, measure } from '../../cli/simulate/measure.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { judgeValues } from '../../core/air/quality.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { type NamedValues, valuesOf } from '../../core/air/values.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../core/time.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'

const lagos = { name: 'Lagos', idPrefix: 'NGR-LOS', box: undefined }

const rules = sensorIdRules()
const plan = (sensors: number, seed = 1, firstNumber = 1): readonly CitySensor[] =>
  planCity({ sensors, seed, firstNumber, network: lagos, rules })
const draw = chanceOf(1)
const startMs = Date.UTC(2026, 0, 14, 12)

const times = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2040, 0, 1) })

const meanPm25 = (sensors: readonly CitySensor[], timesMs: readonly number[]): number => {
  const values = sensors.flatMap((sensor) => timesMs.map((t) => measure(sensor, t, draw).pm25))
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
const every = (fromMs: number, stepMs: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => fromMs + i * stepMs)

describe('chance', () => {
  it('is the same for the same seed and place, in any order, and even over [0, 1)', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 4 }),
        (seed, at) => {
          const value = chanceOf(seed)(...at)
          expect(chanceOf(seed)(...at)).toBe(value)
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThan(1)
        },
      ),
    )
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let i = 0; i < 10_000; i++) {
      const tenth = Math.floor(draw(7, i) * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })
})

describe('the city', () => {
  it('is the same for the same seed and another one for another', () => {
    expect(plan(40)).toEqual(plan(40))
    expect(plan(40, 2).map(({ lat }) => lat)).not.toEqual(plan(40).map(({ lat }) => lat))
  })

  it('keeps its first sensors when it grows', () => {
    expect(plan(60).slice(0, 40)).toEqual(plan(40))
  })

  it('gives each sensor an id of its own, that of its area, and a place within Lagos', () => {
    const city = plan(1_000)
    expect(new Set(city.map(({ id }) => id)).size).toBe(1_000)
    for (const { id, area, lat, lon, address } of city) {
      expect(id).toMatch(new RegExp(`^NGR-LOS-${area.code}-\\d{3}$`))
      expect(Math.abs(lat - 6.52)).toBeLessThan(0.2)
      expect(Math.abs(lon - 3.4)).toBeLessThan(0.2)
      expect(address).toContain(area.name)
    }
    expect(plan(1, 1, 501)[0]?.id).toBe('NGR-LOS-IKJ-501')
  })

  it('measures believable values at any time, the same at every call', () => {
    const city = plan(20)
    fc.assert(
      fc.property(fc.constantFrom(...city), times, (sensor, timeMs) => {
        const values = measure(sensor, timeMs, draw)
        expect(measure(sensor, timeMs, chanceOf(1))).toEqual(values)
        expect(values.pm25).toBeGreaterThan(0)
        expect(values.pm10).toBeGreaterThanOrEqual(values.pm25)
        const hundredths: NamedValues = Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, Math.round(value * 100)]),
        )
        const judged = judgeValues(valuesOf(hundredths), { timeAssigned: false })
        expect(judged.flags).toBe(0)
      }),
    )
  })

  it('has more particles in the evening rush than in the early afternoon', () => {
    const city = plan(20)
    // 18:30 and 14:30 in Lagos, which is an hour ahead of UTC
    const rush = every(Date.UTC(2026, 5, 1, 17, 30), dayMs, 28)
    const calm = every(Date.UTC(2026, 5, 1, 13, 30), dayMs, 28)
    expect(meanPm25(city, rush)).toBeGreaterThan(1.3 * meanPm25(city, calm))
  })

  it('has dust in January, and hardly any in the rains', () => {
    const city = plan(10)
    const january = meanPm25(city, every(Date.UTC(2026, 0, 1), hourMs, 31 * 24))
    const june = meanPm25(city, every(Date.UTC(2026, 5, 1), hourMs, 30 * 24))
    expect(january).toBeGreaterThan(1.5 * june)
  })

  it('has sensors that drop out now and then, some of which keep their readings', () => {
    const seen = new Map<string, number>()
    for (const timeMs of every(startMs, 5 * minuteMs, 288))
      for (let sensor = 0; sensor < 50; sensor++) {
        const condition = conditionAt(sensor, timeMs, draw)
        seen.set(condition, (seen.get(condition) ?? 0) + 1)
      }
    const all = 288 * 50
    expect(seen.get('sending')).toBeGreaterThan(0.95 * all)
    expect(seen.get('sending')).toBeLessThan(all)
    expect(seen.get('cut_off')).toBeGreaterThan(0)
    expect(seen.get('dark')).toBeGreaterThan(0)
  })
})

const life = (options: Partial<CityLifeOptions> = {}) =>
  openCityLife({
    city: plan(40),
    draw,
    startMs,
    cadenceMs: 10 * secondMs,
    isDemonstration: false,
    hasFaults: false,
    ...options,
  })

type Sent = { readonly sensor: string; readonly items: readonly RawReading[] }

function sentIn(city: ReturnType<typeof life>, fromMs: number, toMs: number): Sent[] {
  const sent: Sent[] = []
  for (let tick = city.tickAt(fromMs); city.dueMs(tick) < toMs; tick++)
    for (const { sensor, body } of city.messagesAt(tick)) {
      const found = JSON.parse(body) as RawReading | RawReading[]
      sent.push({ sensor, items: Array.isArray(found) ? found : [found] })
    }
  return sent
}

const timesOf = (sent: readonly Sent[], sensor: string): number[] =>
  sent
    .filter((message) => message.sensor === sensor)
    .flatMap(({ items }) => items.map(({ timestamp }) => Date.parse(timestamp)))

describe('the life of the city', () => {
  it('sends one reading per sensor and cadence while nothing drops out', () => {
    const sent = sentIn(life({ isDemonstration: true }), startMs, startMs + minuteMs)
    expect(sent).toHaveLength(240)
    for (const { sensor, items } of sent) {
      expect(items).toHaveLength(1)
      expect(items[0]?.sensor_id).toBe(sensor)
    }
  })

  it('loses nothing of a disconnected sensor: its readings are sent as arrays of at most 500', () => {
    const city = plan(200)
    const spanMs = 12 * hourMs
    const options = { city, cadenceMs: 5 * minuteMs }
    const sent = sentIn(life(options), startMs, startMs + spanMs)
    const backFilled = sent.filter(({ items }) => items.length > 1)
    expect(backFilled.length).toBeGreaterThan(0)
    for (const { items } of backFilled) expect(items.length).toBeLessThanOrEqual(500)

    const wasDark = (sensor: CitySensor): boolean =>
      every(startMs, minuteMs, spanMs / minuteMs).some(
        (timeMs) => conditionAt(sensor.index, timeMs, draw) === 'dark',
      )
    const isCutOffAtEnd = (sensor: CitySensor): boolean =>
      conditionAt(sensor.index, startMs + spanMs, draw) === 'cut_off'
    const whole = backFilled.filter(({ sensor }) => {
      const found = city.find(({ id }) => id === sensor)
      return found !== undefined && !wasDark(found) && !isCutOffAtEnd(found)
    })
    expect(whole.length).toBeGreaterThan(0)
    for (const { sensor } of whole)
      expect(timesOf(sent, sensor)).toHaveLength(spanMs / (5 * minuteMs))
  })

  it('continues at the present after a delay, without the readings in between', () => {
    const city = life()
    const nowMs = startMs + 7 * hourMs
    expect(city.dueMs(city.tickAt(nowMs))).toBeGreaterThanOrEqual(nowMs)
    expect(city.dueMs(city.tickAt(nowMs) - 1)).toBeLessThan(nowMs)
  })
})

describe('the demonstration', () => {
  const city = plan(40)
  const sent = sentIn(life({ isDemonstration: true }), startMs, startMs + 20 * minuteMs)

  it('has one sensor that is silent for a minute every five, and no other', () => {
    const longestGap = (sensor: string): number => {
      const times = timesOf(sent, sensor)
      return Math.max(...times.slice(1).map((timeMs, i) => timeMs - (times[i] ?? 0)))
    }
    const silent = city[silentSensor]?.id ?? ''
    const times = timesOf(sent, silent)
    const gaps = times.filter((timeMs, i) => i > 0 && timeMs - (times[i - 1] ?? 0) > 30 * secondMs)
    expect(gaps).toHaveLength(4)
    expect(longestGap(silent)).toBeGreaterThanOrEqual(minuteMs)
    const others = city.map(({ id }) => id).filter((id) => id !== silent)
    expect(Math.max(...others.map(longestGap))).toBeLessThan(11_000)
  })

  it('has one sensor that rises above 300 every ten minutes and falls far below again', () => {
    const indices = sent
      .filter(({ sensor }) => sensor === city[risingSensor]?.id)
      .map(({ items: [item] }) => ({ ...item, ...item?.measurements }))
      .map(({ pm25 = 0, pm10 = 0 }) => usAqiOf((pm25 ?? 0) * 100, (pm10 ?? 0) * 100) ?? 0)
    const rises = indices.filter((aqi, i) => aqi > 300 && (indices[i - 1] ?? 0) <= 290)
    expect(rises).toHaveLength(2)
    expect(Math.min(...indices)).toBeLessThan(200)
  })

  it('has a past at its own cadence, in arrays of at most 500', () => {
    const [sensor] = city
    if (sensor === undefined) throw new Error('no sensor')
    const span = { fromMs: startMs - 2 * dayMs, toMs: startMs, cadenceMs: 5 * minuteMs, draw }
    const messages = [...backFill(sensor, span)].map(
      ({ body }) => (JSON.parse(body) as RawReading[]).length,
    )
    expect(messages).toEqual([500, 76])
  })
})

describe('faults', () => {
  const reading = {
    sensor: 'NGR-LOS-IKJ-001',
    timeMs: startMs,
    values: { pm25: 31.5, pm10: 60.1, co2: 455, temperature: 27.4, humidity: 81.2 },
  }

  it('spoil a few readings in a hundred and no others', () => {
    const clean = every(startMs, secondMs, 5_000).filter((timeMs) => {
      const [message, ...more] = withDirt({ ...reading, timeMs }, 3, draw)
      const expected = JSON.stringify({
        sensor_id: reading.sensor,
        timestamp: new Date(timeMs).toISOString().replace('.000Z', 'Z'),
        ...reading.values,
      })
      return more.length === 0 && message?.body === expected
    })
    expect(clean.length).toBeGreaterThan(4_700)
    expect(clean.length).toBeLessThan(4_950)
  })

  it('are what their names say', () => {
    // a fraction of a second must not be taken for a value
    const odd = { ...reading, timeMs: startMs + 125 }
    expect(JSON.parse(dirt.words_for_numbers(odd)[0]?.body ?? '')).toMatchObject({
      timestamp: '2026-01-14T12:00:00.125Z',
      pm25: '31.5',
    })
    const bodies = (fault: keyof typeof dirt): unknown[] =>
      dirt[fault](reading).map(({ body }) => JSON.parse(body) as unknown)
    expect(() => bodies('torn')).toThrow(SyntaxError)
    expect(bodies('words_for_numbers')[0]).toMatchObject({ pm25: '31.5' })
    expect(bodies('no_offset')[0]).toMatchObject({ timestamp: '2026-01-14T12:00:00' })
    expect(bodies('fast_clock')[0]).toMatchObject({ timestamp: '2026-01-14T18:00:00Z' })
    expect(bodies('reset_clock')[0]).toMatchObject({ timestamp: '1970-01-01T12:00:00Z' })
    expect(bodies('clock_backwards')[0]).toMatchObject({ timestamp: '2026-01-14T11:53:00Z' })
    expect(bodies('hot_thermometer')[0]).toMatchObject({ temperature: 141.3, pm25: 31.5 })
    expect(bodies('dead_sensor')[0]).toEqual({
      sensor_id: reading.sensor,
      timestamp: '2026-01-14T12:00:00Z',
      temperature: -200,
    })
    expect(bodies('saturated')[0]).toMatchObject({ pm25: 999.9, pm10: 1999.9 })
    expect(bodies('damp')[0]).toMatchObject({ humidity: 99.9 })
    const [first, second] = bodies('repeated')
    expect(first).toEqual(second)
    expect(bodies('contradicted').map((body) => (body as Measured).pm25)).toEqual([31.5, 36.5])
    expect(bodies('wrong_name')[0]).toMatchObject({ sensor_id: 'NGR-LOS-IKJ-0010' })
    expect(dirt.stranger(reading)[0]?.sensor).toBe('NGR-LOS-IKJ-99999')
    expect(bodies('empty')).toEqual([[]])
  })
})
