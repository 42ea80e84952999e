/**
 * Where events come from. The code that follows, matches, catches up, recovers and delivers takes a
 * list of sources and names none of them; the list is in `core/delivery/event-kinds.ts` (their
 * rows) and `open-sources.ts` (their modules).
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeliveryKey, SourceName } from '../../core/delivery/delivery.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import type { Matched as OnMatched, WebhookIndex } from '../../core/delivery/webhook-match.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { Occurrence } from './payload.ts'

/** One message of a source, which holds any number of events. */
export type SourceItem = {
  readonly source: SourceName
  /** In the stream that the source counts by; higher than that of the item before. */
  readonly sequence: number
  /** When it happened, by the broker's clock. */
  readonly storedMs: number
  /** Messages that the server holds after this one. */
  readonly pending: number
  /** Calls back for every webhook that it concerns. */
  readonly match: (index: WebhookIndex, on: OnMatched) => void
}

export type Matched = {
  /** The last sequence that was matched. */
  readonly cursor: number
  /** That message was stored at this time or before; ms of the broker. */
  readonly storedMs: number
}

export type Source = {
  readonly name: SourceName
  /** Live, in order and without a gap, until it is stopped. Rejects when the server is away. */
  readonly follow: (fromSeq: number, stop: AbortSignal) => AsyncIterable<SourceItem>
  /** The stored items from a sequence up to another. Rejects when the server is away. */
  readonly read: (fromSeq: number, endSeq: number) => AsyncIterable<SourceItem>
  /** What a delivery is about; undefined: it is not stored any more. */
  readonly occurrence: (key: DeliveryKey) => Promise<Occurrence | undefined>
  /**
   * Where to continue after what was matched: the cursor, unless the stream has come back older.
   */
  readonly resumeAfter: (matched: Matched) => Promise<number>
  /** The cursor before everything that happened at that time or later, ms since the epoch. */
  readonly cursorSince: (sinceMs: number) => Promise<number>
}

export type Sources = Readonly<Record<SourceName, Source>>

/** What sources are made of. */
export type SourceContext = {
  readonly nc: NatsConnection
  readonly keccak: Keccak
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** `aqi_threshold` of a webhook, if it has one. */
  readonly thresholdOf: (webhook: WebhookNumber) => number | undefined
  /** The API's public address, for links to proofs. */
  readonly publicUrl: string
  readonly stop: AbortSignal
}
