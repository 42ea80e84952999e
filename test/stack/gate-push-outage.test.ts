import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import sensorCommunity from '../fixtures/devices/sensor-community.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { basic, type Caller, type TestPush, testPush, ttnUplink } from '../support/push.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// servers and processes are killed and started again, each a few seconds on a busy machine

const [airrohrBody, communityBody, purpleairBody] = [airrohr, sensorCommunity, purpleair].map(
  ({ messages }) => messages[0]?.body,
)
const waitsIn = (dataFolder: string, folder = 'push-spool'): number =>
  readdirSync(join(dataFolder, folder)).filter((name) => name.endsWith('.log')).length

describe('NATS is away', () => {
  let push: TestPush
  beforeEach(async () => {
    push = await testPush()
  })
  afterEach(() => push[Symbol.asyncDispose]())

  test('what firmware would drop is stored on our disk, and stored in order when NATS is back', async () => {
    const caller = await push.sensor('NGR-LOS-OUT-001')
    const { id: leaf } = await push.sensor('NGR-LOS-OUT-002', {
      device: { kind: 'ttn', serial: '70B3D57ED0000001' },
    })
    const application = await push.application({ id: 'a1', kind: 'ttn', fields: { pm25: 'pm2_5' } })
    const at = formatIso(Date.now() - 60_000)
    await push.nats.kill()

    const airrohrTold = await push.post('/push/airrohr', airrohrBody, caller)
    const rest = [
      await push.post('/push/sensor-community', communityBody, caller, { 'x-pin': '1' }),
      await push.post('/push/purpleair', { ...purpleairBody, DateTime: undefined }, caller),
      await push.post('/push/ttn', ttnUplink({ at }), application),
    ]
    for (const answer of [airrohrTold, ...rest])
      expect(answer).toMatchObject({ status: 202, body: { stored: 1, spooled: true } })
    expect(await push.metric('airproof_push_spool_bytes')).toBeGreaterThan(400)
    expect(await push.metric('airproof_push_requests_total', 'outcome="spooled"')).toBe(4)
    // a client that can keep a reading learns that it is not stored
    const own = await push.post('/push/readings', { timestamp: at, pm25: 1 }, caller)
    expect(own).toMatchObject({ status: 503, body: { error: { code: 'away' } } })
    expect(Number(own.headers.get('retry-after'))).toBeGreaterThan(0)
    // a wrong credential is refused all the same
    const wrong = { id: caller.id, secret: application.secret }
    expect((await push.post('/push/airrohr', airrohrBody, wrong)).status).toBe(401)

    await push.nats.restart()
    await eventually('all of it is sent', () => waitsIn(push.dataFolder) === 0)
    const raws = await push.rawOf(caller.id)
    // the time is that of the push, not that of the end of the outage
    expect(raws[0]).toMatchObject({ pm25: 22.85, timestamp: airrohrTold.body['timestamp'] })
    expect(raws).toMatchObject([{ pm10: 41.3 }, { pm25: 22.85 }, { pm25: 24.55 }])
    expect(await push.rawOf(leaf)).toEqual([{ timestamp: at, pm25: 19.2 }])
    expect(await push.metric('airproof_push_spool_age_seconds')).toBe(0)
    const after = await push.post('/push/airrohr', airrohrBody, caller)
    expect(after.body).not.toHaveProperty('spooled')
  })

  test('a server that is there but silent counts as away', async () => {
    const caller = await push.sensor('NGR-LOS-OUT-003')
    push.nats.freeze()
    const answer = await push.post('/push/airrohr', airrohrBody, caller)
    expect(answer).toMatchObject({ status: 202, body: { spooled: true } })
    push.nats.thaw()
    await eventually('all of it is sent', () => waitsIn(push.dataFolder) === 0)
    // the server may have taken the first try too: the same reading, once ever
    const times = (await push.rawOf(caller.id)).map(
      (raw) => (raw as { timestamp: string }).timestamp,
    )
    expect([...new Set(times)]).toEqual([answer.body['timestamp']])
  })
})

test('a full spool answers 503, and takes readings again when it is drained', async () => {
  await using push = await testPush({ spoolMaxBytes: 1_000 })
  const caller = await push.sensor('NGR-LOS-OUT-004')
  await push.nats.kill()
  const statuses: number[] = []
  for (let i = 0; i < 12; i++)
    statuses.push((await push.post('/push/airrohr', airrohrBody, caller)).status)
  const kept = statuses.filter((status) => status === 202).length
  expect(kept).toBeGreaterThan(3)
  expect(statuses.slice(kept)).toEqual(statuses.slice(kept).map(() => 503))
  const full = await push.post('/push/airrohr', airrohrBody, caller)
  expect(full).toMatchObject({ status: 503, body: { error: { code: 'spool_full' } } })
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await push.metric('airproof_push_spool_bytes')).toBeLessThanOrEqual(1_000)
  await push.nats.restart()
  await eventually('it is drained', () => waitsIn(push.dataFolder) === 0)
  expect(await push.rawOf(caller.id)).toHaveLength(kept)
  expect((await push.post('/push/airrohr', airrohrBody, caller)).status).toBe(202)
})

test('RAW full: our own shape receives 503, firmware’s readings wait until there is room', async () => {
  await using push = await testPush({ streams: { rawMaxBytes: 2_000 } })
  const caller = await push.sensor('NGR-LOS-OUT-005')
  const at = formatIso(Date.now() - 1_000)
  const post = () => push.post('/push/readings', { timestamp: at, pm25: 1 }, caller)
  const full = await eventually('the stream is full', async () => {
    const answer = await post()
    return answer.body.error?.code === 'raw_full' && answer
  })
  expect(full.status).toBe(503)
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
  const kept = await push.post('/push/airrohr', airrohrBody, caller)
  expect(kept).toMatchObject({ status: 202, body: { spooled: true } })
  await push.purge(caller.id)
  await eventually('it is sent', () => waitsIn(push.dataFolder) === 0)
  expect(await push.rawOf(caller.id)).toMatchObject([{ timestamp: kept.body['timestamp'] }])
})

describe('the gate is killed', () => {
  const script = fileURLToPath(new URL('../support/stand-ins/push.ts', import.meta.url))

  async function startGate(natsUrl: string, dataFolder: string) {
    const child = spawn(process.execPath, [script, natsUrl, dataFolder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      child.kill(signal)
      await exited
    }
    return { url, end }
  }

  test('with kill -9 while it spools readings: the next gate sends every reading that was answered 202', async () => {
    // a registry and credentials; its own push has another folder and is not used
    await using registry = await testPush()
    const caller = await registry.sensor('NGR-LOS-OUT-006')
    const { dataFolder } = registry
    const folder = join(dataFolder, 'killed')
    const gate = await startGate(registry.nats.url, folder)
    await registry.nats.kill()

    const acknowledged: unknown[] = []
    const pushing = Array.from({ length: 40 }, () =>
      postTo(gate.url, caller).then((time) => void acknowledged.push(time)),
    )
    // it dies in the middle of them: what was not answered yet may be lost, and was not promised
    const killing = eventually('some were answered', () => acknowledged.length >= 5).then(() =>
      gate.end('SIGKILL'),
    )
    await Promise.allSettled(pushing)
    await killing
    expect(waitsIn(folder)).toBeGreaterThan(0)

    await registry.nats.restart()
    const next = await startGate(registry.nats.url, folder)
    await eventually('it is drained', () => waitsIn(folder) === 0)
    await next.end('SIGTERM')
    const stored = (await registry.rawOf(caller.id)).map(
      (raw) => (raw as { timestamp: string }).timestamp,
    )
    expect(acknowledged.length).toBeGreaterThanOrEqual(5)
    expect(stored).toEqual(expect.arrayContaining(acknowledged))
    expect(new Set(stored).size).toBe(stored.length)
  })

  test('two gates share a data folder; what both left is sent by the next one', async () => {
    await using nats = await testNats()
    using shared = temporaryFolder()
    const options = { nats, dataFolder: shared.path }
    const [first, second] = [await testPush(options), await testPush(options)]
    const caller = await first.sensor('NGR-LOS-OUT-007')
    await eventually('the second knows it too', async () => {
      const { status } = await second.post('/push/readings', [], caller)
      return status === 400
    })
    await nats.kill()
    for (const gate of [first, second]) {
      const answer = await gate.post('/push/airrohr', airrohrBody, caller)
      expect(answer).toMatchObject({ status: 202, body: { spooled: true } })
    }
    const folders = ['push-spool', 'push-spool-2']
    const waiting = () => folders.map((name) => waitsIn(shared.path, name))
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
    expect(waiting()).toEqual([1, 1])
    await nats.restart()
    await using third = await testPush(options)
    await eventually('all of it is sent', () => waiting().every((count) => count === 0))
    expect(await third.rawOf(caller.id)).toHaveLength(2)
  })

  async function postTo(url: string, caller: Caller): Promise<unknown> {
    const answer = await fetch(`${url}/push/airrohr`, {
      method: 'POST',
      body: JSON.stringify(airrohrBody),
      headers: { authorization: basic(caller) },
    })
    if (answer.status !== 202) throw new Error(`answered ${answer.status}`)
    return ((await answer.json()) as { timestamp: string }).timestamp
  }
})
