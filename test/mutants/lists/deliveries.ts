import type { Mutant, RowMutants } from '../mutant.ts'

const verdict = 'core/delivery/attempt-verdict.ts'
const mails = 'notifier/owners/mails.ts'

/** When a delivery is tried again, when its endpoint is given up, and what its owner is sent. */
export const deliveryMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a retry is left out',
    file: verdict,
    rows: /^ {2}(\d+ \* (?:second|minute|hour)Ms),\n/gm,
    becomes: () => '',
    least: 10,
    tests: ['backoff'],
  },
  {
    name: 'a busy receiver is tried again soon',
    file: verdict,
    rows: /(?<=busy: readonly number\[\] = \[.*)(\d{3}),? ?/g,
    becomes: () => '',
    least: 4,
    tests: ['backoff'],
  },
  {
    name: 'a bound of attempts and endpoints is twice as large',
    file: verdict,
    rows: /(?<=^(?:export )?const (gone|jitterShare|busyMs|longestRequestedMs|failuresToOpen|firstOpenMs|longestOpenMs|disableAfterMs|leastFailures) = )[^;\n]+/gm,
    becomes: (bound) => `2 * ${bound}`,
    least: 9,
    tests: ['backoff'],
  },
  {
    name: 'a warning is at another time',
    file: verdict,
    rows: /(?<=warningsMs = \[[^\]]*?)((?:\d \* )?dayMs)/g,
    becomes: (mark) => `2 * ${mark}`,
    least: 2,
    tests: ['backoff'],
  },
  {
    name: 'an answer of 300 counts as delivered',
    file: verdict,
    text: 'status < 300',
    becomes: 'status <= 300',
    tests: ['backoff'],
  },
  {
    name: 'a time in the past is waited for',
    file: verdict,
    text: 'Math.max(0, atMs - nowMs)',
    becomes: 'atMs - nowMs',
    tests: ['backoff'],
  },
  {
    name: 'an endpoint fails since its newest failure',
    file: verdict,
    text: 'failures === 0 ? nowMs : firstFailureMs',
    becomes: 'failures >= 0 ? nowMs : firstFailureMs',
    tests: ['backoff', 'webhook-mails'],
  },
  {
    name: 'a fact is not in a mail to an owner',
    file: mails,
    rows: /^ {8}(?:\w+|\.\.\.namesOf)\b[^{\n]*,\n/gm,
    becomes: () => '',
    least: 9,
    tests: ['webhook-mails'],
  },
  {
    name: 'a mail has less in its id',
    file: mails,
    rows: /(?<=id: `webhook_\w+-[^`]*?)-\$\{([\w.]+)[^}]*\}/g,
    becomes: () => '',
    least: 3,
    tests: ['webhook-mails'],
  },
  {
    name: 'a mail shows a secret in an address',
    file: mails,
    rows: /(?<=const isCut = .*?)(?:(first)\.length > longestPart|(rest)\.length > 0|(search) !== '')(?: \|\| )?/g,
    becomes: (row) => (row.endsWith('|| ') ? '' : 'Date.now() < 0'),
    least: 3,
    tests: ['webhook-mails'],
  },
  {
    name: 'a mail shows a longer part of an address',
    file: mails,
    text: 'longestPart = 12',
    becomes: 'longestPart = 13',
    tests: ['webhook-mails'],
  },
]
