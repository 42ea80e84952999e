/** The gate's HTTP push in this process, over a real nats-server with a registry and credentials. */
import { Writable } from 'node:stream'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { Registry } from 'prom-client'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { openApplicationBook, openCredentialBook } from '../../gate/credential-book.ts'
import { inputGuard } from '../../gate/input-guard.ts'
import { openPush, type Push, type PushOptions } from '../../gate/push/open-push.ts'
import { createApplication } from '../../operate/applications.ts'
import { issueCredential } from '../../operate/sensor-credentials.ts'
import { openLog } from '../../runtime/log.ts'
import { watchSensors } from '../../runtime/nats/buckets/packed-bucket.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { Application } from '../../schemas/devices/application.ts'
import { entryFault, parseSensor } from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { buckets, rawStream } from '../../schemas/subjects.ts'
import ttn from '../fixtures/devices/ttn.json' with { type: 'json' }
import { eventually } from './eventually.ts'
import { type TestNats, testNats } from './nats.ts'
import { entryOf } from './pipeline.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type Caller = { readonly id: string; readonly secret: string }

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & {
    readonly error?: {
      readonly code: string
      readonly message: string
      readonly details: Record<string, unknown>
    }
  }
}

export type TestPush = AsyncDisposable & {
  readonly nats: TestNats
  readonly nc: NatsConnection
  readonly url: string
  readonly dataFolder: string
  /** Puts a sensor into the registry and gives it a credential. */
  readonly sensor: (id: string, entry?: Partial<SensorEntry>) => Promise<Caller>
  readonly application: (
    application: Pick<Application, 'id' | 'kind'> & Partial<Application>,
  ) => Promise<Caller>
  /** @param body text is sent as it is, anything else as JSON */
  readonly post: (
    path: string,
    body: unknown,
    caller?: Caller,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>
  /** What RAW holds of a sensor, oldest first. */
  readonly rawOf: (id: string) => Promise<readonly unknown[]>
  /** Empties the stream that a sensor's readings go to. */
  readonly purge: (id: string) => Promise<void>
  /** The sum over the lines of a metric that have the label. */
  readonly metric: (name: string, label?: string) => Promise<number>
  /** All log lines. */
  readonly logged: () => string
}

type Options = Partial<Pick<PushOptions, 'spoolMaxBytes' | 'limits' | 'seen' | 'clockMs'>> & {
  readonly streams?: Parameters<typeof ensureStreams>[1]
  readonly nats?: TestNats
  /** Another than its own. */
  readonly dataFolder?: string
}

export const basic = ({ id, secret }: Caller): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

/** An uplink of The Things Stack with a time and a device of the test's own. */
export function ttnUplink({ at, devEui = '70B3D57ED0000001' }: { at: string; devEui?: string }) {
  const [{ body }] = ttn.messages as unknown as [{ body: Readonly<Record<string, object>> }]
  return {
    ...body,
    end_device_ids: { dev_eui: devEui },
    uplink_message: { ...body['uplink_message'], received_at: at },
  }
}

/** Opens what the gate's main opens. */
export async function openTestPush(
  nc: NatsConnection,
  options: Pick<PushOptions, 'dataFolder' | 'registry' | 'log' | 'spoolMaxBytes'> &
    Partial<PushOptions>,
): Promise<Push> {
  await using opened = new AsyncDisposableStack()
  const rules = sensorIdRules()
  const sensors = opened.use(await watchSensors(nc, rules, parseSensor, () => undefined))
  const book = opened.use(await openCredentialBook(nc))
  const applications = opened.use(await openApplicationBook(nc))
  const push = opened.use(
    await openPush({
      host: '127.0.0.1',
      port: 0,
      nc,
      book,
      applications,
      sensors,
      earliestMs: Date.UTC(2015, 0, 1),
      pausedForMs: () => 0,
      level: { current: () => newestLevel },
      guard: inputGuard({ count: () => undefined, log: options.log }),
      ...options,
    }),
  )
  const all = opened.move()
  return { url: push.url, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

export async function testPush({
  spoolMaxBytes = 64 * 1024 * 1024,
  streams,
  ...rest
}: Options = {}): Promise<TestPush> {
  await using opened = new AsyncDisposableStack()
  const { path } = opened.use(temporaryFolder())
  const dataFolder = rest.dataFolder ?? path
  const nats = rest.nats ?? opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc, streams)
  const kvm = new Kvm(nc)
  const registered = await kvm.open(buckets.sensors)
  const credentials = await kvm.open(buckets.credentials)
  const applications = await kvm.open(buckets.applications)
  const lines: string[] = []
  const to = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString())
      done()
    },
  })
  const registry = new Registry()
  const log = openLog({ name: 'gate', level: 'trace', to })
  const push = opened.use(
    await openTestPush(nc, { ...rest, dataFolder, registry, log, spoolMaxBytes }),
  )

  const post: TestPush['post'] = async (path, body, caller, headers = {}) => {
    const answer = await fetch(push.url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(caller && { authorization: basic(caller) }),
        ...headers,
      },
    })
    const { status, headers: given } = answer
    return { status, headers: given, body: (await answer.json()) as Answered['body'] }
  }
  /** The gate learns of new entries by its watches. */
  const untilKnown = (path: string, caller: Caller): Promise<unknown> =>
    eventually('the gate knows the credential', async () => {
      const { status } = await post(path, 'no JSON', caller)
      return status !== 401 && status !== 403
    })
  const manager = await jetstreamManager(nc)
  const rawOf: TestPush['rawOf'] = async (id) => {
    const stream = rawStream(partitionOf(id))
    const { state } = await manager.streams.info(stream)
    const bodies: unknown[] = []
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(stream, { seq })
      if (message?.subject.endsWith(`.${id}`)) bodies.push(message.json())
    }
    return bodies
  }
  const all = opened.move()
  return {
    nats,
    nc,
    url: push.url,
    dataFolder,
    post,
    rawOf,
    purge: async (id) => {
      await manager.streams.purge(rawStream(partitionOf(id)))
    },
    logged: () => lines.join(''),
    sensor: async (id, entry = {}) => {
      const fault = entryFault(entryOf(id, entry), sensorIdRules())
      if (fault !== undefined) throw new Error(fault)
      await registered.put(id, JSON.stringify(entryOf(id, entry)))
      const secret = await issueCredential(credentials, id, { nowMs: Date.now() })
      const caller = { id, secret }
      await eventually('the registry is known', async () => {
        const { status } = await post('/push/readings', [], caller)
        // 429: its bounds are so small that this request used them up
        return status === 400 || status === 429
      })
      return caller
    },
    application: async (application) => {
      const secret = await createApplication(applications, application, Date.now())
      const caller = { id: application.id, secret }
      const { kind } = application
      await untilKnown(`/push/${kind === 'gateway' ? 'bulk' : kind}`, caller)
      return caller
    },
    metric: async (name, label = '') => {
      const text = await registry.metrics()
      return text
        .split('\n')
        .filter((line) => line.startsWith(name) && line.includes(label))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
