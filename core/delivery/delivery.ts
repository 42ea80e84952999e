/** What a delivery is called: kinds, triggers, and the natural key by which it is the same one. */
import type { WebhookNumber } from './webhook-id.ts'

/** In the order of their numbers in the ledger, which never change. */
export const eventKinds = [
  'aqi.high',
  'aqi.critical',
  'sensor.offline',
  'sensor.online',
  'reading.new',
] as const
export type EventKind = (typeof eventKinds)[number]

/** What made the delivery; in the order of their numbers in the ledger. */
export const triggers = ['event', 'replay', 'recover', 'test'] as const
export type Trigger = (typeof triggers)[number]

/**
 * Two deliveries with the same key are the same delivery: a receiver sees one id. `sequence` is of
 * EVENTS, of READINGS for `reading.new`. `detail` (0…2047) is the reading's place in its READINGS
 * message, for `aqi.high` the threshold crossed, else 0.
 */
export type DeliveryKey = {
  readonly webhook: WebhookNumber
  readonly kind: EventKind
  readonly sequence: number
  readonly detail: number
}

export const largestDetail = 2_047

/** What goes first of what is due: somebody's health, or a sensor that needs somebody. */
export const isUrgent = (kind: EventKind): boolean => kind !== 'aqi.high' && kind !== 'reading.new'

/** The key without its webhook, as other processes name it: `aqi.high-1234-150`. */
export const keyText = ({ kind, sequence, detail }: Omit<DeliveryKey, 'webhook'>): string =>
  `${kind}-${sequence}-${detail}`

/** @returns undefined where the text is no key */
export function parseKeyText(text: string): Omit<DeliveryKey, 'webhook'> | undefined {
  const [, name, sequence, detail] = /^([a-z.]{8,16})-([1-9]\d{0,13})-(\d{1,4})$/.exec(text) ?? []
  const kind = eventKinds.find((one) => one === name)
  if (kind === undefined || Number(detail) > largestDetail) return undefined
  return { kind, sequence: Number(sequence), detail: Number(detail) }
}
