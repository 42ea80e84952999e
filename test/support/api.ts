/**
 * The API process with a real nats-server and a real SQLite file, and a stand-in for the pipeline
 * that commits and stores exactly what a test specifies.
 */
import { hash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { run } from '../../api/main.ts'
import { apiKeyPrefix, makeKey } from '../../core/access/api-key.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { seqOf } from '../../core/air/reading.ts'
import { partitionCount, partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { valueOf } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import { evolve } from '../../core/state/evolve.ts'
import type { ArrivedReading, LogMessage } from '../../core/state/log-message.ts'
import { createState, type PartitionState } from '../../core/state/partition-state.ts'
import { dayMs } from '../../core/time.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { writeKeyFingerprint } from '../../runtime/secrets/secret-key.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { encodeSnapshot } from '../../schemas/log/snapshot.ts'
import type { Account, KeyRecord } from '../../schemas/people/account.ts'
import { buckets, stateSubject } from '../../schemas/subjects.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import type { Store } from '../../store/store.ts'
import { commitMessage } from './commit-message.ts'
import { mustBeDocumented } from './documented-answers.ts'
import { eventually } from './eventually.ts'
import { signInAs, type TestNats, testNats } from './nats.ts'
import { type Over, valued } from './readings.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A reading as a test specifies it; all other fields have defaults. */
export type Told = { readonly sensor: string; readonly timeMs: number } & Over<
  Omit<ArrivedReading, 'sensor'>
>

type Committed = Partial<Pick<LogMessage, 'events' | 'held'>>

export type TestApi = AsyncDisposable & {
  readonly nats: TestNats
  readonly nc: NatsConnection
  /** The writer of the file that the API reads. */
  readonly store: Store
  /** The SQLite file, if the rows are stored in one. */
  readonly storeFile: string
  readonly url: string
  readonly adminUrl: string
  readonly key: string
  readonly register: (entry: Partial<SensorEntry> & { readonly id: string }) => Promise<void>
  readonly unregister: (id: string) => Promise<void>
  readonly newKey: (fields?: Partial<KeyRecord>) => Promise<{ key: string; hash: string }>
  readonly keys: KV
  readonly system: KV
  /** One READINGS message per partition, and rows in the store; resolves when the API has folded it. */
  readonly commit: (
    reported: readonly Told[],
    more?: Committed,
  ) => Promise<readonly ArrivedReading[]>
  readonly snapshot: (positions?: { readonly store?: number }) => Promise<void>
  /** The sequence committed last. */
  readonly lastSeq: () => number
  readonly get: (path: string, init?: RequestInit) => Promise<Response>
  readonly stopApi: () => Promise<void>
  /** @param until what it waits for: a process without its store responds but is never ready */
  readonly startApi: (until?: 'ready' | 'alive') => Promise<void>
}

type Options = {
  /** Extra settings of the process. */
  readonly env?: Readonly<Record<string, string>>
  /** Rows go only into the log: the store writer lags behind. */
  readonly isStoring?: () => boolean
  readonly isStarted?: boolean
  /** Another engine than SQLite; `env` configures the process for it. */
  readonly openStore?: () => Promise<Store>
  /** An instance that is there already; its data folder is `folder`. */
  readonly at?: {
    readonly nats: TestNats
    readonly store: Store
    readonly storeFile: string
    readonly folder: string
  }
}

export const siteOf = (area: string, lat = 6.6, lon = 3.35, from = '2020-01-01T00:00:00Z') => ({
  area,
  lat,
  lon,
  from,
  address: `1 ${area} Road`,
})

export async function testApi({
  env = {},
  isStoring = () => true,
  isStarted = true,
  openStore,
  at,
}: Options = {}): Promise<TestApi> {
  await using opened = new AsyncDisposableStack()
  const folder = at === undefined ? opened.use(temporaryFolder()) : { path: at.folder }
  const nats = at?.nats ?? opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const storeFile = at?.storeFile ?? join(folder.path, 'readings.sqlite')
  const store =
    at?.store ?? opened.use(await (openStore?.() ?? openSqliteStore({ file: storeFile })))
  const kvm = new Kvm(nc)
  const sensors = await kvm.open(buckets.sensors)
  const keys = await kvm.open(buckets.keys)
  const accounts = await kvm.open(buckets.accounts)
  const system = await kvm.open(buckets.system)
  const port = await freePort()
  const adminPort = await freePort()
  const states = Array.from({ length: partitionCount }, (_, p) => createState(p))
  let lastSeq = 0

  const made = new Set<string>()
  const newKey: TestApi['newKey'] = async (fields = {}) => {
    const key = makeKey(apiKeyPrefix, randomBytes(64))
    const account = fields.account ?? 'account-1'
    if (!made.has(account)) {
      made.add(account)
      // unless the test has already made it with other settings
      await accounts.create(account, JSON.stringify(premium(account))).catch(() => undefined)
    }
    const record: KeyRecord = {
      id: `key-${key.slice(-6)}`,
      account,
      name: 'test',
      hint: key.slice(0, 8),
      created_at: formatIso(Date.now()),
      expires_at: formatIso(Date.now() + 90 * dayMs),
      ...fields,
    }
    const name = hash('sha256', key)
    await keys.put(name, JSON.stringify(record))
    return { key, hash: name }
  }
  const { key } = await newKey()

  let running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  const stopApi = async (): Promise<void> => {
    running?.stop.abort('test')
    await running?.done
    running = undefined
  }
  const startApi: TestApi['startApi'] = async (until = 'ready') => {
    const source = {
      env: {
        AIRPROOF_DATA: folder.path,
        AIRPROOF_API_PORT: String(port),
        AIRPROOF_ADMIN_PORT: String(adminPort),
        AIRPROOF_LOG: 'silent',
        NATS_URL: nats.url,
        ...signInAs('api'),
        // few tests are about quotas, and many send a thousand requests per minute
        AIRPROOF_QUOTA_PREMIUM: '1000000',
        AIRPROOF_BURST_PREMIUM: '1000000',
        ...env,
      },
      flags: {},
    }
    await writeKeyFingerprint(nc, source, folder.path)
    const config = readSharedConfig(source)
    const stop = new AbortController()
    const log = openLog({ name: 'api', level: config.logLevel })
    const done = run({ config, ...source, log, stop: stop.signal })
    running = { stop, done }
    await Promise.race([
      done,
      eventually(`the API is ${until}`, async () => {
        const path = until === 'ready' ? 'ready' : 'health'
        const seen = await fetch(`http://127.0.0.1:${adminPort}/${path}`).catch(() => undefined)
        return seen?.status === 200
      }),
    ])
  }

  const get: TestApi['get'] = async (path, init = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })
    if (!isPart.test(path)) await mustBeDocumented(init.method ?? 'GET', path, answer)
    return answer
  }

  const folded = async (): Promise<void> => {
    if (running === undefined) return
    await eventually('the API has folded the log', async () => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
      const [, position = '0'] = /^airproof_api_readings_position\{.*\} (\d+)$/m.exec(text) ?? []
      return Number(position) >= lastSeq
    })
  }

  const publish = async (
    state: PartitionState,
    readings: readonly ArrivedReading[],
    { events = [], held = [] }: Committed,
  ): Promise<void> => {
    const message: LogMessage = {
      partition: state.partition,
      worker: 'test',
      rawLast: state.rawLast + 1,
      rawLastTimeMs: Date.now(),
      nLast: state.n + readings.length,
      // nothing is ever deferred here
      lateTo: lastSeq,
      listenedMs: state.listenedMs + 1_000,
      deferred: [],
      refused: [],
      duplicates: [],
      readings,
      events,
      held,
      ...(readings.some(({ leafVersion }) => leafVersion === 2) && { leafVersion: 2 as const }),
    }
    lastSeq = await commitMessage(nc, message, state.readingsSeq || undefined)
    evolve(state, message, lastSeq)
  }

  const commit: TestApi['commit'] = async (reported, more = {}) => {
    const committed: ArrivedReading[] = []
    const groups = Map.groupBy(reported, ({ sensor }) => partitionOf(sensor))
    if (groups.size === 0) {
      const [event] = more.events ?? []
      const sensor =
        event !== undefined && 'sensor' in event ? event.sensor : (more.held?.[0] ?? '')
      groups.set(partitionOf(sensor), [])
    }
    for (const [partition, group] of groups) {
      const state = states[partition]!
      const readings = group.map((one, i) => readingFrom(one, seqOf(partition, state.n + i + 1)))
      await publish(state, readings, more)
      committed.push(...readings)
    }
    if (isStoring()) await store.writeBatch(committed)
    await folded()
    return committed
  }
  if (isStarted) await startApi()
  const all = opened.move()
  return {
    nats,
    nc,
    store,
    storeFile,
    key,
    keys,
    system,
    newKey,
    commit,
    get,
    stopApi,
    startApi,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    lastSeq: () => lastSeq,
    register: async (entry) => {
      const whole: SensorEntry = {
        cadence_seconds: 300,
        sites: [siteOf('Ikeja')],
        created_at: '2020-01-01T00:00:00Z',
        ...entry,
      }
      await sensors.put(entry.id, JSON.stringify(whole))
    },
    unregister: (id) => sensors.delete(id),
    snapshot: async ({ store: storedTo = lastSeq } = {}) => {
      const positions = { store: storedTo, events: lastSeq, rejected: lastSeq }
      for (const state of states) {
        const chunks = encodeSnapshot(state, positions, [], newestLevel)
        for (const [i, chunk] of chunks.entries()) {
          await jetstream(nc).publish(stateSubject(state.partition, i), chunk)
        }
      }
    },
    [Symbol.asyncDispose]: async () => {
      await stopApi()
      await all.disposeAsync()
    },
  }
}

/** Of one of our pages, not of the interface. */
const isPart = /^\/proof\/page\.|\/back-test$/

const premium = (id: string): Account => ({
  id,
  email: `${id}@example.org`,
  name: id,
  tier: 'premium',
  role: 'user',
  created_at: formatIso(Date.now()),
})

/** Defaults of a reading; if `values` are given, there are no others. */
const usual = { pm25: 1_000, pm10: 2_000, co2: 41_000, temperature: 2_850, humidity: 7_000 }

function readingFrom({ sensor, ...reported }: Told, seq: number): ArrivedReading {
  const { values, ...rest } = valued(
    reported.values === undefined ? { ...usual, ...reported } : reported,
  )
  return {
    area: 'Ikeja',
    arrivedMs: reported.timeMs + 1_000,
    flags: 0,
    aqi: usAqiOf(valueOf(values, 'pm25'), valueOf(values, 'pm10')),
    seq,
    ...rest,
    values,
    sensor: sensor as SensorId,
  }
}
