/** One reading's way through a whole instance, as a real OTLP receiver gets it. */
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { listenOn } from '../../runtime/http/listen.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sh = promisify(execFile)
const sensor = 'NGR-LOS-IKJ-001'

type Value = {
  readonly intValue?: number | string
  readonly stringValue?: string
  readonly arrayValue?: { readonly values: readonly Value[] }
}
type Context = { readonly traceId: string; readonly spanId: string }
type Span = Context & {
  readonly name: string
  readonly parentSpanId?: string
  readonly links?: readonly Context[]
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Value }[]
}
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

const attribute = ({ attributes }: Pick<Span, 'attributes'>, name: string): Value | undefined =>
  attributes.find(({ key }) => key === name)?.value
const numbers = (span: Span, name: string): readonly number[] => {
  const value = attribute(span, name)
  return (value?.arrayValue?.values ?? (value === undefined ? [] : [value])).map(({ intValue }) =>
    Number(intValue),
  )
}
const hasSeq = (span: Span, seq: number): boolean => {
  const to = numbers(span, 'airproof.seq.last')
  return numbers(span, 'airproof.seq.first').some((from, at) => from <= seq && seq <= to[at]!)
}

test('one reading is found in the spans of batch, commit, store write, anchor, delivery and request', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const spans: Span[] = []
  const services = new Set<string | undefined>()
  const received = async (request: IncomingMessage): Promise<void> => {
    const sent = (await json(request)) as Sent
    for (const { resource, scopeSpans } of sent.resourceSpans) {
      services.add(attribute(resource, 'service.name')?.stringValue)
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
  }
  // both the collector and the receiver of the webhook
  const server = createServer((request, response) => {
    const isTraces = request.url === '/v1/traces'
    void (isTraces ? received(request) : Promise.resolve()).then(() =>
      response.setHeader('content-type', 'application/json').end('{}'),
    )
  })
  opened.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
  const city = opened.use(
    await runCity(join(folder.path, 'data'), {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        ANCHOR_INTERVAL: '1s',
        AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
      },
    }),
  )
  const { api, key, push } = city.instance
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    }
    return (await (await fetch(api + path, { ...init, headers })).json()) as T
  }
  const body = JSON.stringify({ url: `${url}/hook`, events: ['reading.new'] })
  await ask('/v1/webhooks', { method: 'POST', body })
  const add = ['sensors', 'add', '--id', sensor, '--area', 'Ikeja', '--lat', '6.6', '--lon', '3.35']
  const place = ['--address', '1 Road', '--json', '--data', join(folder.path, 'data')]
  const { stdout } = await sh(process.execPath, [resolve('bin/airproof.mjs'), ...add, ...place], {
    env: environment(),
  })
  const { key: credential } = JSON.parse(stdout) as { key: string }
  const pushReading = async (): Promise<void> => {
    const answer = await fetch(`${push}/push/readings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`${sensor}:${credential}`)}`,
        connection: 'close',
      },
      body: JSON.stringify({ timestamp: new Date().toISOString(), pm25: 12 }),
    })
    await answer.text()
    expect(answer.ok).toBe(true)
  }
  // of readings before the notifier knows the webhook there is no delivery
  const delivery = await eventually(
    'a delivery is traced',
    async () => {
      await pushReading()
      return spans.find((span) => span.name === 'delivery' && span.links !== undefined)
    },
    { everyMs: 500 },
  )
  const [seq = 0] = numbers(delivery, 'airproof.seq.first')
  const log = numbers(delivery, 'airproof.log.first')
  const of = (name: string) =>
    eventually(`${name} is traced`, () =>
      spans.find((span) => span.name === name && hasSeq(span, seq)),
    )
  const [batch, commit, write, anchor] = [
    await of('batch'),
    await of('commit'),
    await of('store_write'),
    await of('anchor'),
  ]
  expect(seq).toBeGreaterThan(0)
  await ask(`/v1/sensors/${sensor}/status`)
  // one trace, whose root is the batch, although two processes made it
  for (const span of [commit, delivery])
    expect([
      span.name,
      span.traceId,
      span.parentSpanId,
      numbers(span, 'airproof.log.first'),
    ]).toEqual([span.name, batch.traceId, batch.spanId, log])
  // a write may hold several messages, and is in the trace of the first
  const committed = { traceId: commit.traceId, spanId: commit.spanId }
  for (const span of [write, delivery, anchor])
    expect([span.name, span.links]).toEqual([
      span.name,
      expect.arrayContaining([expect.objectContaining(committed)]),
    ])
  expect(anchor.traceId).not.toBe(batch.traceId)
  expect(BigInt(batch.endTimeUnixNano) >= BigInt(commit.endTimeUnixNano)).toBe(true)
  expect(attribute(anchor, 'airproof.tx')?.stringValue).toMatch(/^0x[0-9a-f]{64}$/)
  const request = await eventually('a request is traced', () =>
    spans.find(
      (span) =>
        span.name === 'request' &&
        attribute(span, 'http.route')?.stringValue === '/v1/sensors/:sensor_id/status',
    ),
  )
  expect(numbers(request, 'http.response.status_code')).toEqual([200])
  expect([...services]).toEqual(
    expect.arrayContaining([
      'airproof-anchor',
      'airproof-api',
      'airproof-notifier',
      'airproof-pipeline',
    ]),
  )
  // no key, no address and no value of a reading leaves the instance in this way
  const all = JSON.stringify(spans)
  for (const secret of [key, credential, 'pm25', '/hook']) expect(all).not.toContain(secret)
})
