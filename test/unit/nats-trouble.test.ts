import {
  AuthorizationError,
  ConnectionError,
  PermissionViolationError,
} from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { denialInWords, natsTrouble, shownUrl } from '../../runtime/nats/nats-trouble.ts'

const natsUrl = 'nats://user:hush@air-1:4222, nats://air-2:4222'
const natsLogin = { user: 'gate', password: 'hush' }
const coded = (code: string): Error => Object.assign(new Error(`said ${code}`), { code })

test.each([
  [
    'a wrong password',
    new AuthorizationError('no'),
    { natsLogin },
    'refused',
    /the user "gate": check NATS_USER and NATS_PASSWORD_FILE/,
  ],
  ['no user', new AuthorizationError('no'), {}, 'refused', /requires a user: set NATS_USER/],
  [
    'wrong credentials',
    new AuthorizationError('no'),
    { natsCreds: 'a.creds' },
    'refused',
    /credentials of a\.creds/,
  ],
  [
    'a certificate',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    {},
    'refused',
    /not trusted here \(DEPTH_ZERO.*set NATS_PIN_FILE/,
  ],
  [
    'another certificate',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    { natsPinFile: 'p.pem' },
    'refused',
    /not the one in NATS_PIN_FILE p\.pem/,
  ],
  ['an old certificate', coded('CERT_HAS_EXPIRED'), {}, 'refused', /CERT_HAS_EXPIRED/],
  [
    'a pin that is not there',
    new ConnectionError('x', { cause: coded('ENOENT') }),
    { natsPinFile: 'p.pem' },
    'refused',
    /NATS_PIN_FILE p\.pem cannot be read/,
  ],
  [
    'no TLS',
    new ConnectionError("server does not support 'tls'"),
    {},
    'refused',
    /does not support TLS, which the settings require/,
  ],
  [
    'no server',
    new ConnectionError('connection refused', { cause: coded('ECONNREFUSED') }),
    {},
    'silent',
    /connection refused.*is it running/,
  ],
  ['no such host', coded('ENOTFOUND'), {}, 'silent', /host name is unknown here \(ENOTFOUND\)/],
  ['anything else', new Error('odd'), {}, 'silent', /does not answer \(odd\)/],
] as const)('%s is explained', (_name, error, attempt, kind, words) => {
  const trouble = natsTrouble(error, { natsUrl, ...attempt })
  expect(trouble.kind).toBe(kind)
  expect(trouble.words).toMatch(words)
  expect(trouble.words).toContain('NATS at nats://air-1:4222,nats://air-2:4222 ')
  expect(trouble.words).not.toContain('hush')
})

test('a denial names the user, the operation and the subject', () => {
  const denial = new PermissionViolationError('no', 'publish', '$KV.keys.a', undefined)
  const late = new Error('timeout', { cause: denial })
  expect(denialInWords(late, 'api')).toBe('the NATS user "api" may not publish to $KV.keys.a')
  expect(denialInWords(new Error('timeout'), 'api')).toBeUndefined()
})

test('a password in an address is never shown', () => {
  expect(shownUrl('tls://a:b@c:1,nats://d')).toBe('tls://c:1,nats://d')
})
