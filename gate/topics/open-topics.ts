/**
 * Devices that fix their own topics: takes their messages from stream TOPICS, and publishes them as
 * readings of their sensors. One gate at a time does it (lease `task.topics`), because one number
 * per topic must be joined in one place; another takes over within 10 s.
 *
 * A message is acknowledged when its reading is in RAW. If the process dies before, the next gate
 * receives it again: the reading's time is that of the broker, so a second one is an exact repeat.
 */
import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import type { PackedBucket } from '../../runtime/nats/buckets/packed-bucket.ts'
import { endsPull } from '../../runtime/nats/until-silent.ts'
import { pause } from '../../runtime/pause.ts'
import { LeasedTask, type Work } from '../../runtime/process/leased-task.ts'
import { Lifetime } from '../../runtime/process/lifetime.ts'
import { Counter, type Registry } from '../../runtime/prometheus.ts'
import { quietRepeats } from '../../runtime/quiet-repeats.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { buckets, topicsStream } from '../../schemas/subjects.ts'
import { alivePrefixes, tasks } from '../../schemas/system-keys.ts'
import { indexDevices } from '../device-index.ts'
import type { InputGuard } from '../input-guard.ts'
import { openRawPublisher } from '../push/publish-raw.ts'
import { createTopicWork } from './topic-work.ts'

export type TopicsOptions = {
  readonly nc: NatsConnection
  readonly sensors: PackedBucket<RegisteredSensor>
  /** Stable over restarts (`runtime/process/instance-id.ts`). */
  readonly holder: string
  readonly guard: InputGuard
  readonly log: Logger
  readonly metrics: Registry
}

const consumerName = 'gate'
/** Longer than a window of numbers that belong together, which is acknowledged at its end. */
const ackWaitMs = 30 * secondMs
/** Of open windows: ten thousand devices that send five numbers each. */
const mostUnacknowledged = 50_000
/**
 * More than a day's deliveries of one message (`againMs` of `topic-work.ts`): no outage uses it up.
 * A message that ends the process each time, or is never answered, is then not delivered any more;
 * it expires with the stream's `max_age`, and does not block others meanwhile.
 */
const mostDeliveries = 2_000
const pulledAtOnce = 500
const retryMs = secondMs

/** Works until disposed. What was begun is then finished, or delivered again to the next gate. */
export async function openTopics(options: TopicsOptions): Promise<AsyncDisposable> {
  const { nc, sensors, holder, guard, log } = options
  await using opened = new AsyncDisposableStack()
  const manager = await jetstreamManager(nc)
  const settings = {
    durable_name: consumerName,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ackWaitMs * 1_000_000,
    max_ack_pending: mostUnacknowledged,
    max_deliver: mostDeliveries,
  }
  try {
    await manager.consumers.add(topicsStream, settings)
  } catch {
    // an older version created it
    await manager.consumers.update(topicsStream, consumerName, settings)
  }
  const publisher = opened.use(openRawPublisher(nc, { log, guard }))
  const { messages } = topicMetrics(options.metrics)
  const devices = indexDevices(sensors)

  const start = (): Work => {
    const stopping = new AbortController()
    const work = createTopicWork({
      devices,
      publish: publisher.publish,
      count: (outcome, by) => messages.inc({ outcome }, by),
      failed: guard.failed,
      log,
      nowMs: () => performance.now(),
    })
    const ended = consumeUntil(nc, stopping.signal, work.take, log)
    const ticking = setInterval(work.tick, secondMs)
    return {
      stop: async () => {
        stopping.abort()
        clearInterval(ticking)
        await ended
        await work.end()
      },
    }
  }
  const leasing = new AbortController()
  const task = new LeasedTask({
    start,
    task: tasks.topics,
    aliveAs: alivePrefixes.topics,
    nc,
    leaseKeys: await new Kvm(nc).open(buckets.leases),
    holder,
    life: new Lifetime(leasing.signal),
    log,
    failureLevel: 'debug',
  })
  opened.defer(async () => {
    leasing.abort()
    await task.end()
  })
  const resources = opened.move()
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/**
 * Hands messages over one after the other, through outages of the server, the only thing that ends
 * an inner round: `take` never throws.
 */
async function consumeUntil(
  nc: NatsConnection,
  stop: AbortSignal,
  take: (message: JsMsg) => Promise<void>,
  log: Logger,
): Promise<void> {
  const repeats = quietRepeats()
  while (!stop.aborted) {
    let messages: ConsumerMessages | undefined
    const end = (): void => messages?.stop()
    try {
      const consumer = await jetstream(nc).consumers.get(topicsStream, consumerName)
      messages = await consumer.consume({ max_messages: pulledAtOnce })
      stop.addEventListener('abort', end, { once: true })
      if (stop.aborted) end()
      for await (const message of messages) {
        // what was pulled and not begun goes to the next gate at once
        if (stop.aborted) message.nak()
        else await take(message)
        // what was pulled with it and is lost is delivered again
        if (endsPull(message)) break
      }
    } catch (error) {
      const notShown = repeats.show(String(error), performance.now())
      if (notShown !== undefined)
        log.warn({ err: error, notShown }, 'the devices’ messages cannot be read: trying again')
    } finally {
      stop.removeEventListener('abort', end)
    }
    await pause(retryMs, stop)
  }
}

/** What an operator watches of the devices that fix their own topics. */
export function topicMetrics(registry: Registry) {
  return {
    messages: new Counter({
      name: 'airproof_gate_topic_messages_total',
      help: 'Messages on topics that devices fix: stored as a reading or part of one, or why not',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  }
}
