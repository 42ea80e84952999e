/** Each reason of REJECTED for a person, if the pipeline gives no more exact text. */
import type { Refused } from './log-message.ts'

const words = {
  not_json: 'not JSON',
  schema: 'not in the form of a reading',
  too_large: 'the message is too long',
  too_many: 'too many readings in one message',
  empty: 'a list without a reading',
  unknown_sensor: 'the sensor is not registered',
  sensor_mismatch: 'the body names another sensor than the subject',
  wrong_partition: 'the sensor belongs to another partition',
  no_offset: 'its time has no offset from UTC, such as Z or +01:00',
  too_old: 'older than AIRPROOF_EARLIEST',
  future: 'its time is later than the time it arrived',
  out_of_range: 'no value is in the range that its quantity can have',
  conflict: 'another reading of this sensor and time was accepted before',
  before_site: 'more than a day before the sensor was at its first site',
  too_many_late: 'the sensor had already sent a million late readings on that day',
  too_many_fresh: 'the sensor sent as many fresh readings on that day as it may, one per second',
  not_judged:
    'judging it failed, which is a fault of airproof: report it, and replay it after an update',
  bad_signature: 'no key of the sensor made its signature, or it has none and needs one',
  partial: 'accepted without the values outside the range that their quantity can have',
} as const satisfies Record<Refused['reason'], string>

const byReason = new Map<string, string>(Object.entries(words))

/** @returns '' for a reason of another version */
export const refusalWords = (reason: string): string => byReason.get(reason) ?? ''
