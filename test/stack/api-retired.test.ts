/** What the API showed of a sensor stays true, and provable, after the sensor is removed. */
import { expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import {
  changeSensor,
  checkedId,
  createSensor,
  listSensors,
  newEntry,
  openRegistry,
  removeSensor,
} from '../../operate/sensor-registry.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { siteOf } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const sensor = 'NGR-LOS-IKJ-001'
const other = 'NGR-LOS-IKJ-002'
const nowMs = Math.floor(Date.now() / secondMs) * secondMs
const timeMs = nowMs - 10 * minuteMs
const time = formatIsoMs(timeMs)
const rules = sensorIdRules()

type Listed = { total: number; sensors: { id: string }[] }
type Status = Record<string, unknown>
const json = async <T>(api: AnchoredApi, path: string): Promise<T> => {
  const answer = await api.get(path)
  expect([path, answer.status]).toEqual([path, 200])
  return (await answer.json()) as T
}

/** Two sensors, each with a reading whose batch is final. */
async function city(): Promise<AnchoredApi> {
  const api = await anchoredApi()
  for (const id of [sensor, other]) await api.register({ id, sites: [siteOf('Ikeja', 6.6)] })
  await api.commit([sensor, other].map((id) => ({ sensor: id, timeMs })))
  await api.anchored()
  await eventually('it is verified', async () => {
    const answer = await api.get(`/v1/readings/${sensor}/verify?timestamp=${time}`)
    return ((await answer.json()) as Status)['status'] === 'verified'
  })
  return api
}

async function isLeft(api: AnchoredApi): Promise<void> {
  await eventually('it is not listed', async () => {
    const { sensors } = await json<Listed>(api, '/v1/sensors')
    return sensors.length === 1 && sensors[0]?.id === other
  })
}

/** Readings, verification and the shared link, as they were. */
async function isAllThere(api: AnchoredApi): Promise<void> {
  const page = await json<{ sensor_id: string; count: number; readings: Status[] }>(
    api,
    `/v1/readings?sensor_id=${sensor}`,
  )
  expect(page).toMatchObject({ sensor_id: sensor, count: 1, readings: [{ timestamp: time }] })
  const verified = await json<Status>(api, `/v1/readings/${sensor}/verify?timestamp=${time}`)
  expect(verified).toMatchObject({ status: 'verified', sensor_id: sensor })
  for (const path of [
    `/proof/${sensor}/${time}`,
    `/proof/${sensor}/${time.replace('.000', '')}.airproof.json`,
    `/v1/readings/${sensor}/proof?timestamp=${time}`,
  ]) {
    expect(await json<Status>(api, path)).toMatchObject({ reading: { sensor_id: sensor } })
  }
  const shown = await api.get(`/proof/${sensor}/${time}`, { headers: { accept: 'text/html' } })
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining(sensor)])
}

test('a removed sensor is retired: not listed, not counted, and all its readings can still be requested', async () => {
  await using api = await city()
  const registry = await openRegistry(api.nc, rules)
  const retiredMs = Date.now()
  await removeSensor(registry, checkedId(sensor, rules), retiredMs)
  await isLeft(api)
  await isAllThere(api)

  const status = await json<Status>(api, `/v1/sensors/${sensor}/status`)
  expect(status).toMatchObject({
    sensor_status: 'offline',
    retired: true,
    retired_at: formatIsoMs(retiredMs),
    last_reading: time,
    area: 'Ikeja',
    latest: { timestamp: time },
  })
  expect(await json<Status>(api, `/v1/sensors/${other}/status`)).toMatchObject({
    retired: false,
    retired_at: null,
  })
  expect(await json<Status>(api, '/v1/areas/Ikeja')).toMatchObject({
    sensors: { total: 1, online: 1, offline: 0 },
    // its readings from before count, and were expected
    coverage: { observed: 2 },
  })
  const geo = await json<{ features: { geometry: object }[] }>(
    api,
    `/v1/readings?sensor_id=${sensor}&format=geojson`,
  )
  expect(geo.features[0]?.geometry).toEqual({ type: 'Point', coordinates: [3.35, 6.6] })
  const stream = await api.get(`/v1/stream?sensor_id=${sensor}`)
  expect([stream.status, await stream.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining('retired') } },
  ])

  // for every command that changes the registry it does not exist
  expect((await listSensors(api.nc, rules)).map(({ id }) => id)).toEqual([other])
  const id = checkedId(sensor, rules)
  await expect(removeSensor(registry, id, Date.now())).rejects.toThrow('was removed')
  await expect(changeSensor(registry, id, (entry) => entry)).rejects.toThrow('was removed')
})

test('a sensor that is added again keeps its sites and its readings', async () => {
  await using api = await city()
  const registry = await openRegistry(api.nc, rules)
  await removeSensor(registry, checkedId(sensor, rules), Date.now())
  await isLeft(api)
  const again = newEntry({
    id: sensor,
    area: 'Yaba',
    lat: 6.5,
    lon: 3.38,
    address: '2 Yaba Road',
    cadenceSeconds: 60,
    fromMs: nowMs,
    nowMs,
  })
  await createSensor(registry, again)
  await eventually('it is listed', async () => {
    return (await json<Listed>(api, '/v1/sensors')).total === 2
  })
  expect(await json<Status>(api, `/v1/sensors/${sensor}/status`)).toMatchObject({
    retired: false,
    sensor_status: 'online',
    commissioned_at: '2020-01-01T00:00:00.000Z',
    area: 'Yaba',
    expected_interval_seconds: 60,
  })
  await isAllThere(api)
  const [reading] = await api.commit([{ sensor, timeMs: nowMs, area: 'Yaba' }])
  const { readings } = await json<{ readings: Status[] }>(api, `/v1/readings?sensor_id=${sensor}`)
  expect(readings.map(({ timestamp }) => timestamp)).toEqual([formatIsoMs(nowMs), time])
  expect(reading?.seq).toBeGreaterThan(0)
  await expect(createSensor(registry, again)).rejects.toThrow('already')
})

test('a sensor removed by 0.1 left no entry, but its readings and links still work', async () => {
  await using api = await city()
  await api.unregister(sensor)
  await isLeft(api)
  await isAllThere(api)
  // where it was is not known any more
  expect((await api.get(`/v1/sensors/${sensor}/status`)).status).toBe(404)
  const never = await api.get('/v1/readings?sensor_id=NGR-LOS-IKJ-777')
  expect(never.status).toBe(404)
})
