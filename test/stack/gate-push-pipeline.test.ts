import { expect, test } from 'vitest'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { namesOf } from '../../core/air/quality.ts'
import { valuesOf } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import sensorCommunity from '../fixtures/devices/sensor-community.json' with { type: 'json' }
import { testPipeline } from '../support/pipeline.ts'
import { testPush, ttnUplink } from '../support/push.ts'

test('what devices push is accepted, in our units, flagged where we stamped it, and once ever', async () => {
  await using pipeline = await testPipeline()
  await using push = await testPush({ nats: pipeline.nats })
  const box = await push.sensor('NGR-LOS-END-001')
  const purple = await push.sensor('NGR-LOS-END-002')
  const { id: leaf } = await push.sensor('NGR-LOS-END-003', {
    device: { kind: 'ttn', serial: '70B3D57ED0000001' },
  })
  const roofs = await push.application({ id: 'roofs', kind: 'ttn', fields: { pm25: 'pm2_5' } })
  const own = await push.sensor('NGR-LOS-END-004')
  const cycle = await push.sensor('NGR-LOS-END-005')
  const [minute, second] = [60_000, 1_000].map((ms) => formatIso(Date.now() - ms))

  await push.post('/push/airrohr', airrohr.messages[0]?.body, box)
  await push.post(
    '/push/purpleair',
    { ...purpleair.messages[0]?.body, DateTime: minute?.replaceAll('-', '/') },
    purple,
  )
  for (let copy = 0; copy < 2; copy++)
    await push.post('/push/ttn', ttnUplink({ at: minute ?? '' }), roofs)
  await push.post(
    '/push/readings',
    [
      { timestamp: minute, pm25: 18.5 },
      { timestamp: second, pm25: 19, temperature: 302 },
    ],
    own,
  )
  const cycleBodies = ['1', '11'].map((pin) => ({
    pin,
    body: sensorCommunity.messages.find((message) => message.pin === pin)?.body,
  }))
  for (const { pin, body } of cycleBodies)
    await push.post('/push/sensor-community', body, cycle, { 'x-pin': pin })

  expect(await pipeline.outcomeOf(box.id)).toMatchObject({
    accepted: [
      {
        values: valuesOf({
          pm25: 2_285,
          pm10: 4_130,
          temperature: 2_941,
          humidity: 7_106,
          pressure: 100_873,
        }),
      },
    ],
    refused: [],
  })
  const [reading] = (await pipeline.outcomeOf(box.id)).accepted
  expect(reading?.aqi).toBe(usAqiOf(2_285, 4_130))
  expect(namesOf(reading?.flags ?? 0)).toEqual(['time_assigned'])
  expect(await pipeline.outcomeOf(purple.id)).toMatchObject({
    accepted: [
      {
        values: valuesOf({
          pm25: 2_455,
          pm10: 3_125,
          temperature: 3_111,
          humidity: 5_200,
          pressure: 100_940,
        }),
        flags: 0,
      },
    ],
  })
  expect(await pipeline.outcomeOf(leaf)).toMatchObject({
    accepted: [{ values: expect.arrayContaining([1_920]), timeMs: Date.parse(minute ?? '') }],
    duplicates: 1,
  })
  const ours = await pipeline.outcomeOf(own.id)
  expect(ours.accepted).toMatchObject([
    { values: valuesOf({ pm25: 1_850 }) },
    { values: valuesOf({ pm25: 1_900 }) },
  ])
  expect(ours.partials).toHaveLength(1)
  expect(await pipeline.outcomeOf(cycle.id)).toMatchObject({
    accepted: [
      { values: valuesOf({ pm25: 2_285, pm10: 4_130 }) },
      { values: valuesOf({ temperature: 2_941, humidity: 7_106, pressure: 100_873 }) },
    ],
    refused: [],
  })
})
