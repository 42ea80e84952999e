import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { eventually } from '../support/eventually.ts'
import { type TestPipeline, testPipeline } from '../support/pipeline.ts'
import { type Answered, type Caller, type TestPush, testPush } from '../support/push.ts'

const secondsAgo = (seconds: number): string => formatIso(Date.now() - seconds * 1_000)
/** @param seconds how old, different for each of a sensor */
const reading = (id: string, seconds: number) => ({
  sensor_id: id,
  timestamp: secondsAgo(seconds),
  pm25: 18.5,
})
const lines = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n')

describe('a gateway', () => {
  let pipeline: TestPipeline
  let push: TestPush
  let gateway: Caller
  const ids = [1, 2, 3].map((n) => `NGR-LOS-BLK-00${n}`)
  const [first = '', second = '', third = ''] = ids
  beforeAll(async () => {
    pipeline = await testPipeline()
    push = await testPush({ nats: pipeline.nats })
    await Promise.all(ids.map((id) => push.sensor(id)))
    gateway = await push.application({
      id: 'north',
      kind: 'gateway',
      sensors: [first, second, 'NGR-LOS-NEW'],
    })
  })
  afterAll(async () => {
    await push[Symbol.asyncDispose]()
    await pipeline[Symbol.asyncDispose]()
  })

  const acceptedOf = async (id: string): Promise<readonly string[]> =>
    (await pipeline.outcomeOf(id)).accepted.map(({ timeMs }) => formatIso(timeMs))
  const post = (body: unknown): Promise<Answered> => push.post('/push/bulk', body, gateway)

  test.each([
    ['as an array', JSON.stringify, 100],
    ['as a line each', lines, 90],
  ])(
    'posts readings of many sensors %s, each stored as its own sensor’s',
    async (_name, form, from) => {
      const readings = [reading(first, from), reading(second, from), reading(first, from - 1)]
      const answer = await post(form(readings))
      expect(answer).toMatchObject({ status: 202, body: { stored: 3 } })
      expect(answer.body).not.toHaveProperty('refused')
      const times = readings.map(({ timestamp }) => timestamp)
      expect((await acceptedOf(first)).slice(-2)).toEqual([times[0], times[2]])
      expect((await acceptedOf(second)).slice(-1)).toEqual([times[1]])
    },
  )

  test('receives the reason of each that is refused, by its place, and the others are stored', async () => {
    const answer = await post(
      `${lines([
        reading(first, 9),
        reading(third, 9),
        reading('NGR-LOS-NEW-001', 9),
        { timestamp: secondsAgo(9), pm25: 1 },
        { ...reading(second, 9), pm25: 'high' },
        { sensor_id: second, pm25: 1 },
        { ...reading(second, 9), timestamp: '2001-01-01T00:00:00Z' },
      ])}\n{"sensor_id":"${second}","timest`,
    )
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ stored: 1, refused_count: 7 })
    const refused = answer.body['refused'] as readonly { item: number; code: string }[]
    expect(refused.map(({ item, code }) => [item, code])).toEqual([
      [1, 'foreign_sensor'],
      [2, 'unknown_sensor'],
      [3, 'schema'],
      [4, 'schema'],
      [5, 'schema'],
      [6, 'too_old'],
      [7, 'not_json'],
    ])
    expect(refused[0]).toMatchObject({ sensor_id: third, field: 'sensor_id' })
  })

  test('sends more of one sensor than a raw message holds', async () => {
    const { id } = await push.sensor('NGR-LOS-NEW-002')
    const count = 607
    const answer = await post(Array.from({ length: count }, (_, n) => reading(id, count - n)))
    expect(answer).toMatchObject({ status: 202, body: { stored: count } })
    expect(await acceptedOf(id)).toHaveLength(count)
  })

  test('of a sensor that was registered a moment ago: the registry is asked before it is called unknown', async () => {
    const ids = Array.from({ length: 5 }, (_, n) => `NGR-LOS-NEW-${20 + n}0`)
    for (const id of ids) {
      await push.sensor(id)
      expect(await post([reading(id, 3)])).toMatchObject({ status: 202, body: { stored: 1 } })
    }
    for (const id of ids) expect(await acceptedOf(id)).toHaveLength(1)
  })

  test('names what the pipeline refuses by its sensor, with the bytes of that reading alone', async () => {
    const good = reading(first, 60)
    await post([good, { ...good, pm25: 40 }])
    const { refused } = await pipeline.outcomeOf(first)
    expect(refused).toMatchObject([{ reason: 'conflict', item: 1 }])
    const [conflict] = refused
    if (conflict === undefined) throw new Error('nothing was refused')
    const kept = await pipeline.kept(conflict, partitionOf(first))
    expect(kept).toMatchObject({ sensor: first })
    expect(JSON.parse(new TextDecoder().decode(kept.data))).toEqual({ ...good, pm25: 40 })
  })

  test('of which one sensor sends too often stores those of the others', async () => {
    const { id } = await push.sensor('NGR-LOS-NEW-003', { flood: { per_second: 0.01, burst: 1 } })
    // the question whether the gate knows the sensor used up its only message
    const answer = await post([reading(id, 2), reading(id, 1), reading(second, 5)])
    expect(answer).toMatchObject({
      status: 202,
      body: { stored: 1, not_now: [{ sensor_id: id, readings: 2, code: 'flood' }] },
    })
    const [{ retry_after: seconds }] = answer.body['not_now'] as [{ retry_after: number }]
    expect(seconds).toBeGreaterThan(1)
    const alone = await post([reading(id, 1)])
    expect(alone).toMatchObject({ status: 429, body: { error: { code: 'flood' } } })
    expect(Number(alone.headers.get('retry-after'))).toBeGreaterThan(1)
  })

  test.each([
    ['an array cut short', `[{"sensor_id":"${first}"`, 400, 'not_json'],
    ['an empty array', '[]', 400, 'empty'],
    ['blanks', ' \n ', 400, 'not_json'],
    ['nothing that is a reading', 'pm25=18', 400, 'not_json'],
    ['10 MB', ' '.repeat(10_000_000), 413, 'body_too_large'],
  ])('that posts %s is told so', async (_name, body, status, code) => {
    expect(await post(body)).toMatchObject({ status, body: { error: { code } } })
  })

  test('is an application of that kind: no other, and no sensor, posts in bulk', async () => {
    const roofs = await push.application({ id: 'roofs', kind: 'ttn', fields: { pm25: 'pm25' } })
    const asTtn = await push.post('/push/bulk', [reading(first, 1)], roofs)
    expect(asTtn).toMatchObject({ status: 403, body: { error: { code: 'wrong_kind' } } })
    const sensor = await push.sensor('NGR-LOS-NEW-004')
    const asSensor = await push.post('/push/bulk', [reading(sensor.id, 1)], sensor)
    expect(asSensor.status).toBe(401)
    const asGateway = await push.post('/push/ttn', {}, gateway)
    expect(asGateway).toMatchObject({ status: 403, body: { error: { code: 'wrong_kind' } } })
  })
})

test('what a gateway sends twice, or again after an error, is accepted once', async () => {
  await using pipeline = await testPipeline()
  await using push = await testPush({ nats: pipeline.nats })
  const ids = Array.from({ length: 40 }, (_, n) => `NGR-LOS-GWY-${100 + n}`)
  await Promise.all(ids.map((id) => push.sensor(id)))
  const gateway = await push.application({ id: 'hub', kind: 'gateway' })
  const readings = ids.flatMap((id) => [reading(id, 20), reading(id, 10)])
  const body = lines([...readings, ...readings])
  await pipeline.nats.kill()
  expect(await push.post('/push/bulk', body, gateway)).toMatchObject({
    status: 503,
    body: { error: { code: 'away' } },
  })
  await pipeline.nats.restart()
  await expect.poll(async () => (await push.post('/push/bulk', body, gateway)).status).toBe(202)
  // the test's own connection finds the server by itself
  await eventually('it is connected again', () =>
    pipeline.nc.rtt().then(
      () => true,
      () => false,
    ),
  )
  for (const id of ids) {
    const { accepted, refused } = await pipeline.outcomeOf(id)
    expect([id, accepted.length, refused]).toEqual([id, 2, []])
  }
})
