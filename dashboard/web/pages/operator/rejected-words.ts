import type { ReplayCounts } from '../../../../operate/rejected-messages.ts'

const words: Readonly<Record<string, string>> = {
  not_json: 'It is not JSON.',
  schema: 'It is JSON, but no reading.',
  too_large: 'Its body is longer than 128 KiB.',
  too_many: 'It holds more than 500 readings.',
  empty: 'It is a list of no readings.',
  unknown_sensor: 'The sensor is not in the registry: add it, then send these again.',
  sensor_mismatch: 'The reading names another sensor than the subject it came on.',
  wrong_partition: 'It is on the subject of another partition.',
  no_offset: 'Its time has no offset, so it is ambiguous.',
  too_old: 'Its time is before the earliest that is believed: a broken clock.',
  future: 'Its time is more than five minutes after it arrived: a clock that runs ahead.',
  out_of_range: 'No value is believable.',
  conflict: 'There is another reading of that sensor and time with other values.',
  before_site: 'Its time is more than a day before the sensor was at its first site.',
  too_many_late: 'The sensor sent a million late readings that day already.',
  too_many_fresh: 'The sensor sent as many fresh readings that day as it may: one per second.',
  not_judged:
    'Judging it failed: a fault of airproof. Report it; send these again after an update.',
  bad_signature: 'It is not signed with a key that the sensor had at its time.',
  partial: 'Accepted, but a value out of range was dropped; the original is kept.',
}

/** As the pipeline names them. */
export const reasons = Object.keys(words)

export const reasonWords = (reason: string): string => words[reason] ?? reason

/** The outcome of sending again. */
export function againWords({ replayed, truncated, unsendable, gone }: ReplayCounts): string {
  return [
    `${replayed} sent again`,
    truncated > 0 ? `${truncated} not: only their beginning is kept` : '',
    unsendable > 0 ? `${unsendable} not: their sensor has no valid name` : '',
    gone > 0 ? `${gone} gone meanwhile` : '',
  ]
    .filter((part) => part !== '')
    .join('; ')
}
