/**
 * Sends spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. Loaded only where a collector
 * is set (`openTraces` in `process/process.ts`).
 *
 * Processes share no context: the ids of a trace follow from the ids' prefix of the network and the
 * sequence of a message of the log. So each process names the trace of a message by itself:
 *
 *     batch ─┬─ commit
 *            ├─ store_write    of the first message of several; links to the commits of all
 *            └─ delivery
 *     anchor                   a trace of its own, with links to commits
 *     request                  a trace of its own
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Logger } from './log.ts'
import { onSpan, type Span, type SpanName } from './trace.ts'
import { ourVersion } from './version.ts'

type Options = {
  /** The collector's address, to which `/v1/traces` is added. */
  readonly endpoint: string
  /** Of the process. */
  readonly name: string
  readonly idPrefix: string
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/** As many as one span may link to: the first of its messages. */
const mostLinks = 128
/** Spans that wait to be sent; when they are too many, new ones are dropped. */
const mostWaiting = 4_096
const sendWithinMs = 2_000

/** Sends what is waiting when it is disposed. */
export function openOtel({ endpoint, name, idPrefix, log }: Options): AsyncDisposable {
  const ids = { traceId: '', spanId: '' }
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `airproof-${name}`,
      'service.namespace': idPrefix,
      'service.version': ourVersion(),
    }),
    // a span starts and ends within one call below, which sets them before
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanLimits: { linkCountLimit: mostLinks },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(
          new OTLPTraceExporter({
            url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
            timeoutMillis: sendWithinMs,
          }),
          log,
        ),
        maxQueueSize: mostWaiting,
        scheduledDelayMillis: 1_000,
        // the exporter itself gives up first
        exportTimeoutMillis: 2 * sendWithinMs,
      }),
    ],
  })
  const tracer = provider.getTracer('airproof', ourVersion())
  const contextOf = (kind: SpanName, seq: number): SpanContext => ({
    traceId: digest(`${idPrefix} log ${seq}`, 16),
    spanId: digest(`${idPrefix} ${kind} ${seq}`, 8),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
  const stop = onSpan((span) => {
    const [first] = span.log ?? []
    const isOfMessage = first !== undefined && span.name !== 'anchor'
    const hasOwnId = span.name === 'batch' || span.name === 'commit'
    ids.traceId = randomBytes(16).toString('hex')
    ids.spanId = randomBytes(8).toString('hex')
    if (isOfMessage) ids.traceId = contextOf('batch', first).traceId
    if (isOfMessage && hasOwnId) ids.spanId = contextOf(span.name, first).spanId
    const parent =
      isOfMessage && span.name !== 'batch' ? inside(contextOf('batch', first)) : ROOT_CONTEXT
    const links = hasOwnId
      ? []
      : (span.log ?? [])
          .slice(0, mostLinks)
          .map((seq): Link => ({ context: contextOf('commit', seq) }))
    const { startMs, endMs, fault } = span
    const attributes = attributesOf(span)
    const made = tracer.startSpan(span.name, { startTime: startMs, attributes, links }, parent)
    if (fault !== undefined) made.setStatus({ code: SpanStatusCode.ERROR, message: fault })
    made.end(endMs)
  })
  return {
    [Symbol.asyncDispose]: async () => {
      stop()
      // what cannot be sent any more is no reason for the process to fail
      await provider.shutdown().catch((error: unknown) => {
        log.warn({ err: error }, 'the last spans were not sent')
      })
    },
  }
}

const inside = (parent: SpanContext): Context => trace.setSpanContext(ROOT_CONTEXT, parent)

const digest = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes)

/** Ranges are two lists, because attributes do not nest. */
function attributesOf({ log = [], seqs = [], attributes }: Span): Attributes {
  const [first, last] = [log[0], log.at(-1)]
  return {
    ...(first === undefined ? {} : { 'airproof.log.first': first }),
    ...(last === undefined ? {} : { 'airproof.log.last': last }),
    ...(seqs.length === 0
      ? {}
      : {
          'airproof.seq.first': seqs.map(([from]) => from),
          'airproof.seq.last': seqs.map(([, to]) => to),
        }),
    ...attributes,
  }
}

/** Says once that the collector does not take spans, and once that it does again. */
function reporting(exporter: SpanExporter, log: Options['log']): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !isFailing)
          log.warn({ err: result.error }, 'the collector does not take spans: they are dropped')
        if (!failed && isFailing) log.info('the collector takes spans again')
        isFailing = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
