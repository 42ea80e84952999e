/** `/v1/sensors` and each sensor's status, of archives: no sensor is online, all are known. */
import { type Ask, fieldsOf, isoOf, listOf } from './ask.ts'
import { someOf } from './check-readings.ts'
import type { ExpectedSensor } from './expected-city.ts'
import type { Findings } from './findings.ts'

export async function checkSensors(
  sensors: readonly ExpectedSensor[],
  ask: Ask,
  findings: Findings,
): Promise<void> {
  // a small page, so that there are several
  let cursor: unknown
  let shown = 0
  do {
    const next = typeof cursor === 'string' ? `&cursor=${cursor}` : ''
    const page = await ask.json(`/v1/sensors?limit=7${next}`)
    findings.same(() => '/v1/sensors total', page['total'], sensors.length)
    for (const value of listOf(page['sensors'])) {
      const expected = sensors[shown++]
      if (expected !== undefined) checkOne(value, expected, findings)
    }
    cursor = page['next_cursor']
  } while (typeof cursor === 'string' && shown <= sensors.length)
  findings.same(() => '/v1/sensors on all pages', shown, sensors.length)
  for (const area of new Set(sensors.map(areaNow))) {
    const there = sensors.filter((sensor) => areaNow(sensor) === area).map(({ id }) => id)
    const query = `area=${encodeURIComponent(area)}&limit=1000&status=`
    const [off, on] = await Promise.all(
      ['offline', 'online'].map(async (status) => ask.json(`/v1/sensors?${query}${status}`)),
    )
    const ids = listOf(off?.['sensors']).map((sensor) => fieldsOf(sensor)['id'])
    findings.same(() => `/v1/sensors of ${area}`, ids, there)
    findings.same(() => `/v1/sensors online in ${area}`, on?.['count'], 0)
  }
  for (const sensor of someOf(sensors)) {
    const status = await ask.json(`/v1/sensors/${sensor.id}/status`)
    const where = (what: string) => () => `status of ${sensor.id}: ${what}`
    const newest = sensor.readings.at(-1)
    const latest = fieldsOf(status['latest'])
    findings.same(where('sensor_status'), status['sensor_status'], 'offline')
    findings.same(where('last_reading'), status['last_reading'], lastReading(sensor))
    findings.same(where('latest.aqi'), latest['aqi'], newest?.aqi)
    findings.same(where('latest.timestamp'), latest['timestamp'], lastReading(sensor))
    findings.same(where('aqi_nowcast'), status['aqi_nowcast'], null)
    findings.same(where('silence_seconds'), status['silence_seconds'], null)
  }
}

const areaNow = ({ sites }: ExpectedSensor): string => sites.at(-1)?.area ?? ''

const lastReading = ({ readings }: ExpectedSensor): string | null => {
  const newest = readings.at(-1)
  return newest === undefined ? null : isoOf(newest.timeMs)
}

function checkOne(value: unknown, expected: ExpectedSensor, findings: Findings): void {
  const site = expected.sites.at(-1)
  findings.same(() => `/v1/sensors ${expected.id}`, value, {
    id: expected.id,
    area: site?.area,
    location: { lat: site?.lat, lon: site?.lon, address: site?.address },
    status: 'offline',
    last_reading: lastReading(expected),
    uptime_24h: 0,
    aqi: expected.readings.at(-1)?.aqi ?? null,
  })
}
