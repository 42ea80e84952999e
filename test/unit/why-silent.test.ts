import { expect, test } from 'vitest'
import {
  type Access,
  publicReason,
  type SilenceFacts,
  whySilent,
} from '../../core/state/why-silent.ts'
import { minuteMs } from '../../core/time.ts'

const nowMs = Date.parse('2026-11-22T14:00:00Z')
const ago = (minutes: number): number => nowMs - minutes * minuteMs
const lastMs = ago(60)
const network = { name: 'Lagos', heard: 40, reporting: 39, lastMs: ago(0) }
const access: Access = {
  key: 'good',
  keyMs: ago(10_000),
  connections: 0,
  contactMs: ago(70),
  hasSignedIn: true,
  refused: undefined,
  deniedMs: undefined,
  pausedUntilMs: undefined,
}
const facts: SilenceFacts = {
  lastMs,
  retiredMs: null,
  network,
  area: { ...network, name: 'Ikeja', heard: 4, reporting: 3 },
  access,
  rejected: undefined,
  cadenceMs: 10_000,
  ours: undefined,
  nowMs,
}
/** Our own service was away for 59 minutes, until a minute ago. */
const ours = { fromMs: ago(60), toMs: ago(1) }
const mostSilent = { network: { ...network, reporting: 9 } }
const wrong = { atMs: ago(2), reason: 'wrong' }

test.each<[string, Partial<SilenceFacts>, object]>([
  ['nothing else is known', {}, { kind: 'silent', atMs: lastMs }],
  ['no gate answers', { access: undefined }, { kind: 'silent', atMs: lastMs }],
  [
    'it was retired',
    { retiredMs: ago(5), access: { ...access, key: 'revoked' } },
    { kind: 'retired', atMs: ago(5) },
  ],
  [
    'its key was revoked',
    { access: { ...access, key: 'revoked', keyMs: ago(9) } },
    { kind: 'revoked', atMs: ago(9) },
  ],
  [
    'its key was revoked during an outage',
    { access: { ...access, key: 'revoked' }, network: { ...network, reporting: 0 } },
    { kind: 'revoked' },
  ],
  [
    'its key was deleted',
    { access: { ...access, key: 'none' } },
    { kind: 'no_key', hasSent: true },
  ],
  [
    'it never had a key',
    { lastMs: null, access: { ...access, key: 'none', contactMs: undefined, hasSignedIn: false } },
    { kind: 'no_key', hasSent: false },
  ],
  [
    'it sends through an application, and needs no key',
    { access: { ...access, key: 'none', contactMs: undefined, hasSignedIn: false } },
    { kind: 'silent' },
  ],
  [
    'no sensor reports',
    { network: { ...network, reporting: 0, lastMs: ago(59) } },
    { kind: 'outage', place: 'Lagos', silent: 40, atMs: ago(59) },
  ],
  [
    'most sensors are silent',
    { network: { ...network, reporting: 12 } },
    { kind: 'outage', place: 'Lagos', silent: 28, of: 40, atMs: null },
  ],
  [
    'most sensors are silent, and our own service has just come back',
    { ...mostSilent, ours },
    { kind: 'restarted', atMs: ours.toMs },
  ],
  [
    'it is connected, and our own service has just come back',
    { ...mostSilent, ours, access: { ...access, connections: 1 } },
    { kind: 'restarted' },
  ],
  [
    'it was silent before our own service was away',
    { ...mostSilent, ours, lastMs: ago(90) },
    { kind: 'silent', atMs: ago(90) },
  ],
  [
    'it is refused since our own service has come back',
    { ...mostSilent, ours, access: { ...access, refused: { atMs: ago(0.5), reason: 'wrong' } } },
    { kind: 'sign_in' },
  ],
  [
    'most sensors are silent long after our own service came back',
    { ...mostSilent, ours: { fromMs: ago(60), toMs: ago(3) } },
    { kind: 'outage', silent: 31, of: 40 },
  ],
  [
    'a sensor of five minutes has more time to come back',
    { ...mostSilent, cadenceMs: 5 * minuteMs, ours: { fromMs: ago(60), toMs: ago(16) } },
    { kind: 'restarted' },
  ],
  [
    'only a process was started again: others received meanwhile',
    { ...mostSilent, ours: { fromMs: ago(1) - 5_000, toMs: ago(1) } },
    { kind: 'outage' },
  ],
  [
    'its whole area is silent',
    { area: { name: 'Ikeja', heard: 3, reporting: 0, lastMs } },
    { kind: 'outage', place: 'Ikeja', silent: 3 },
  ],
  [
    'it is alone in its area',
    { area: { name: 'Ikeja', heard: 1, reporting: 0, lastMs } },
    { kind: 'silent' },
  ],
  [
    'some broken devices of a small network',
    { network: { ...network, heard: 5, reporting: 1 } },
    { kind: 'silent' },
  ],
  [
    'it is paused',
    { access: { ...access, pausedUntilMs: nowMs + 1 } },
    { kind: 'paused', untilMs: nowMs + 1 },
  ],
  ['its pause is over', { access: { ...access, pausedUntilMs: nowMs - 1 } }, { kind: 'silent' }],
  [
    'its sign-in was refused',
    { access: { ...access, refused: wrong } },
    { kind: 'sign_in', ...wrong },
  ],
  [
    'it was refused before its last accepted sign-in',
    { access: { ...access, refused: wrong, contactMs: ago(1) } },
    { kind: 'silent' },
  ],
  [
    'its key was replaced since',
    { access: { ...access, refused: wrong, keyMs: ago(30) } },
    { kind: 'replaced', atMs: wrong.atMs, keyMs: ago(30) },
  ],
  [
    'its messages are refused',
    { rejected: { atMs: ago(3), reason: 'future' } },
    { kind: 'rejected', reason: 'future' },
  ],
  [
    'its messages were refused before its last reading',
    { rejected: { atMs: ago(90), reason: 'future' } },
    { kind: 'silent' },
  ],
  [
    'the newer refusal counts: a sign-in',
    { access: { ...access, refused: wrong }, rejected: { atMs: ago(3), reason: 'future' } },
    { kind: 'sign_in' },
  ],
  [
    'the newer refusal counts: a message',
    { access: { ...access, refused: wrong }, rejected: { atMs: ago(1), reason: 'future' } },
    { kind: 'rejected' },
  ],
  [
    'it publishes where it may not',
    { access: { ...access, deniedMs: ago(4) } },
    { kind: 'denied', atMs: ago(4) },
  ],
  ['it is connected', { access: { ...access, connections: 1 } }, { kind: 'connected' }],
  ['it never sent', { lastMs: null }, { kind: 'never' }],
  [
    'it never sent, and is refused',
    { lastMs: null, access: { ...access, contactMs: undefined, refused: wrong } },
    { kind: 'sign_in' },
  ],
])('%s', (_, more, reason) => {
  expect(whySilent({ ...facts, ...more })).toMatchObject(reason)
})

test('the public reason has nothing of keys, sign-ins and refusals but that something was not accepted', () => {
  const atMs = ago(2)
  expect(publicReason({ kind: 'revoked', atMs })).toEqual({ kind: 'ended' })
  expect(publicReason({ kind: 'no_key', hasSent: true })).toEqual({ kind: 'ended' })
  expect(publicReason({ kind: 'no_key', hasSent: false })).toEqual({ kind: 'never' })
  for (const reason of [
    { kind: 'replaced', atMs, keyMs: atMs },
    { kind: 'sign_in', atMs, reason: 'wrong' },
    { kind: 'rejected', atMs, reason: 'future' },
    { kind: 'denied', atMs },
  ] as const)
    expect(publicReason(reason)).toEqual({ kind: 'not_accepted', atMs })
  expect(publicReason({ kind: 'paused', untilMs: atMs })).toEqual({
    kind: 'not_accepted',
    atMs: null,
  })
  expect(publicReason({ kind: 'silent', atMs })).toEqual({ kind: 'silent', atMs })
})
