import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApi, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const [ours, theirs, words] = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-IKJ-003'] as const
let api: TestApi
beforeAll(async () => {
  api = await testApi({
    env: { AIRPROOF_DATA_LICENCE: 'CC-BY-4.0', AIRPROOF_ATTRIBUTION: 'Lagos Air' },
  })
  await api.register({ id: ours })
  await api.register({ id: theirs, licence: 'CC0-1.0', owner: 'A school' })
  await api.register({ id: words, licence: 'ask the owner first' })
  await api.commit([ours, theirs, words].map((sensor) => ({ sensor, timeMs: Date.now() - 60_000 })))
  await eventually('they are listed', async () => {
    const { total } = (await (await api.get('/v1/sensors')).json()) as { total: number }
    return total === 3
  })
})
afterAll(() => api?.[Symbol.asyncDispose]())

const linkOf = async (path: string): Promise<string | null> =>
  (await api.get(path)).headers.get('link')
const network = '<https://spdx.org/licenses/CC-BY-4.0>; rel="license"'

test('answers with data name the licence: that of the sensor they are about, else that of the network', async () => {
  expect(await linkOf('/v1/areas/Ikeja')).toBe(network)
  expect(await linkOf(`/v1/sensors/${ours}/status`)).toBe(network)
  expect(await linkOf(`/v1/sensors/${theirs}/status`)).toBe(
    '<https://spdx.org/licenses/CC0-1.0>; rel="license"',
  )
  expect(await linkOf('/v1/readings?sensor_id=NGR-LOS-002')).toBe(
    '<https://spdx.org/licenses/CC0-1.0>; rel="license"',
  )
  expect(await linkOf(`/v1/readings?sensor_id=${words}&format=csv`)).toBe(
    `</v1/sensors/${words}>; rel="license"`,
  )
  expect(await linkOf(`/v1/sensors/${theirs}/report?year=2026`)).toBe(
    '<https://spdx.org/licenses/CC0-1.0>; rel="license"',
  )
  expect(await linkOf('/v1/areas/Ikeja/report?year=2026')).toBe(network)
  expect(await linkOf('/v1/usage')).toBeNull()
})

test('the licence is beside the next page', async () => {
  const link = await linkOf('/v1/sensors?limit=1')
  expect(link).toMatch(/^<\/v1\/sensors\?limit=1&cursor=\w+>; rel="next", /)
  expect(link).toContain(network)
})

test('whom to name is in the network’s and the sensor’s own record', async () => {
  expect(await (await api.get('/v1/network')).json()).toMatchObject({
    licence: 'CC-BY-4.0',
    attribution: 'Lagos Air',
  })
  expect(await (await api.get(`/v1/sensors/${theirs}`)).json()).toMatchObject({
    sensor: { licence: 'CC0-1.0', owner: 'A school' },
  })
})
