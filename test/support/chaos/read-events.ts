/** The EVENTS stream as it is, compared with the log. */
import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogEvent, LogMessage } from '../../../core/state/log-message.ts'
import type { AirEvent } from '../../../schemas/log/event.ts'
import { eventsStream } from '../../../schemas/subjects.ts'
import { eventually } from '../eventually.ts'
import type { Logged } from './read-log.ts'

export type CopiedEvent = { readonly subject: string; readonly event: AirEvent }

/** Every message of EVENTS up to its present end. */
export async function readEvents(nc: NatsConnection): Promise<readonly CopiedEvent[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(eventsStream)
  const copied: CopiedEvent[] = []
  if (state.messages === 0) return copied
  const consumer = await jetstream(nc).consumers.get(eventsStream, {
    deliver_policy: DeliverPolicy.All,
  })
  const messages = await consumer.consume()
  for await (const message of messages) {
    copied.push({ subject: message.subject, event: message.json<AirEvent>() })
    if (message.seq >= state.last_seq) break
  }
  await messages.close()
  return copied
}

/** What happened, without sequence numbers: two equal ones are one event sent twice. */
export const naturalKey = (event: AirEvent): string =>
  `${event.kind} ${event.sensor_id} ${event.timestamp}`

const sensorOf = (event: LogEvent, message: LogMessage): string =>
  event.kind === 'offline' ? event.sensor : (message.readings[event.place]?.sensor ?? '')

/** The ids, kinds and sensors that EVENTS must hold for this log. */
export const expectedEvents = (logged: readonly Logged[]): readonly string[] =>
  logged.flatMap(({ seq, message }) =>
    message.events.map(
      (event, place) => `${seq}-${place} ${event.kind} ${sensorOf(event, message)}`,
    ),
  )

export const copiedEvents = (copied: readonly CopiedEvent[]): readonly string[] =>
  copied.map(({ event }) => `${event.id} ${event.kind} ${event.sensor_id}`)

/** Waits until EVENTS has that many messages, then returns all of them. */
export const untilCopied = (nc: NatsConnection, count: number): Promise<readonly CopiedEvent[]> =>
  eventually(
    `EVENTS has ${count} events`,
    async () => {
      const copied = await readEvents(nc)
      return copied.length >= count && copied
    },
    { everyMs: 250 },
  )
