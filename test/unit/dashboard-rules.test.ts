import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { networkOf } from '../../core/access/network-of.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { composeMail } from '../../dashboard/mail/compose.ts'
import { reminderFor } from '../../dashboard/mail/key-reminders.ts'
import { letterOf } from '../../dashboard/mail/letter.ts'
import { cookieLine, csrfOf, newToken, readCookie } from '../../dashboard/server/cookies.ts'
import { html } from '../../dashboard/server/html.ts'
import { passwordWork } from '../../dashboard/server/password-work.ts'
import { judgeEmail, judgeName, judgePassword } from '../../dashboard/server/people/fields.ts'
import { createLimits } from '../../dashboard/server/people/limits.ts'
import { rateBy } from '../../dashboard/server/rate-by.ts'
import { Refusal } from '../../dashboard/server/refusal.ts'
import { safePath } from '../../dashboard/server/see-other.ts'
import { people } from '../../dashboard/texts/en/people.ts'
import { normaliseEmail } from '../../operate/account-book.ts'
import { hashPassword, isPassword, spellPassword } from '../../operate/password-hash.ts'
import { clientNetwork } from '../../runtime/http/client-network.ts'
import { connectionPlaces, mostConnections } from '../../runtime/http/connection-bounds.ts'
import type { KeyRecord } from '../../schemas/people/account.ts'
import { mailSchema } from '../../schemas/people/mail.ts'

describe('a password', () => {
  test('is stored as argon2id of 19 MiB, two passes, one lane, with a new salt each time', async () => {
    const first = await hashPassword('three plain words')
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await hashPassword('three plain words')).not.toBe(first)
    expect(await isPassword('three plain words', first)).toBe(true)
    expect(await isPassword('three plain word', first)).toBe(false)
    expect(await isPassword('three plain words ', first)).toBe(false)
  })

  test('matches a hash made by other tools', async () => {
    // argon2 reference implementation, `echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l
    // 32`
    const kept =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await isPassword('password', kept)).toBe(true)
    expect(await isPassword('Password', kept)).toBe(false)
  })

  test('matches nothing where the stored hash is broken', async () => {
    for (const kept of ['', '$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAA', 'plain']) {
      expect(await isPassword('plain', kept)).toBe(false)
    }
  })

  test('is one however the keyboard composed it, and nothing else is changed', () => {
    expect(spellPassword('cafe\u0301\u00A0au lait ')).toBe('café au lait ')
    expect(spellPassword('ﬁne')).toBe('ﬁne')
  })

  test.each([
    ['1234567', 'at least 8'],
    ['é'.repeat(7), 'at least 8'],
    ['x'.repeat(129), 'at most 128'],
    ['Password123', 'too common'],
    ['aaaaaaaaaa', 'too common'],
    ['Ada.Obi1', 'other than your email'],
  ])('%s is refused: %s', (password, why) => {
    expect(judgePassword(password, 'ada.obi1@example.org', people)).toEqual({
      problem: expect.stringContaining(why) as string,
    })
  })

  test('of 8 to 128 characters is taken, whatever alphabet', () => {
    for (const password of [
      'xk4_9vQ!',
      '🐘'.repeat(64) + 'ab',
      'ọmọ ilẹ̀ wa dára',
      'x y'.repeat(42),
    ])
      expect(judgePassword(password, 'ada@example.org', people)).toEqual({ value: password })
  })

  test('is checked a few at once; others wait, and beyond a bound receive 503', async () => {
    const work = passwordWork({ running: 1, waiting: 2 })
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => work.matches('x', undefined)),
    )
    expect(tries.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    const [, , , refused] = tries
    expect(refused?.status === 'rejected' && refused.reason).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
    })
    expect(await work.matches('x', undefined)).toBe(false)
  })

  test('of a known person is checked before those of strangers, however many wait', async () => {
    const work = passwordWork({ running: 1, waiting: 3 })
    const done: string[] = []
    const check = async (who: string, isKnown: boolean): Promise<void> => {
      await work.matches('x', undefined, { isKnown })
      done.push(who)
    }
    const strangers = ['a', 'b', 'c', 'd'].map((who) => check(who, false))
    await Promise.all([...strangers, check('known', true)])
    expect(done).toEqual(['a', 'known', 'b', 'c', 'd'])
  })
})

describe('an address', () => {
  test.each([
    [' Ada.Obi@Example.ORG ', 'ada.obi@example.org'],
    ['zoe\u0308@example.org', 'zoë@example.org'],
    ['ａｄａ@ｅｘａｍｐｌｅ．org', 'ada@example.org'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada+air@example.org', 'ada+air@example.org'],
    ['ada@localhost', 'ada@localhost'],
  ])('%s is %s', (typed, kept) => expect(normaliseEmail(typed)).toBe(kept))

  test.each([
    '',
    'ada',
    'ada@',
    '@example.org',
    'a@b@c',
    'a b@example.org',
    'ada@exa mple.org',
    'a,b@example.org',
    '"<script>"@example.org',
    'ada@-x.example',
    'ada@example..org',
    `${'a'.repeat(65)}@example.org`,
    'a\r\nb@example.org',
    'ada@example.org\u0000x',
  ])('%j is none', (typed) => expect(judgeEmail(typed, people)).toHaveProperty('problem'))

  test('has one spelling: spelling it again changes nothing', () => {
    const isStable = (typed: string): boolean => {
      const judged = judgeEmail(typed, people)
      if ('problem' in judged) return true
      const again = judgeEmail(judged.value, people)
      return 'value' in again && again.value === judged.value
    }
    expect(
      fc.check(
        fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.domain(), (local, domain) =>
          isStable(`${local}@${domain}`),
        ),
      ),
    ).toMatchObject({ failed: false })
  })
})

test('a name is on one line, and changes no writing direction', () => {
  expect(judgeName(' Ada\r\nObi\u202E ', people)).toEqual({ value: 'Ada Obi' })
  expect(judgeName(' \n ', people)).toHaveProperty('problem')
  expect(judgeName('x'.repeat(201), people)).toHaveProperty('problem')
})

test('whatever is inserted into a page is text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { text: page } = html`<p title="${text}">${text}</p>`
      expect(page.slice('<p title="'.length, -'</p>'.length)).not.toMatch(/[<'`]/)
      expect(page.match(/"/g)).toHaveLength(2)
    }),
  )
  expect(html`${'<b>'}${html`<i>${'&'}</i>`}${[html`<u>`, '<']}${undefined}${false}${0}`.text).toBe(
    '&lt;b&gt;<i>&amp;</i><u>&lt;0',
  )
})

test('after sign-in a person is sent to a path of ours, or to the start', () => {
  for (const path of ['/', '/settings/keys', '/sensors/NGR-LOS-IKJ-001?x=1'])
    expect(safePath(path)).toBe(path)
  for (const path of [
    '',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a\nb',
    '/\t/evil.example',
    `/${'x'.repeat(600)}`,
  ])
    expect([path, safePath(path)]).toEqual([path, '/'])
})

describe('the network of a request', () => {
  const from = (remoteAddress: string, forwarded?: string): IncomingMessage => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
    const request = new IncomingMessage(socket)
    if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded
    return request
  }
  test('is the socket’s where no proxy of ours is in front of us, whatever the client claims', () => {
    expect(clientNetwork(from('192.0.2.1', '198.51.100.1'), 0)).toBe('192.0.2.1')
  })
  test('is what our own proxies wrote, counted from the right', () => {
    const request = from('10.0.0.1', 'invented, 198.51.100.1, 203.0.113.5')
    expect(clientNetwork(request, 1)).toBe('203.0.113.5')
    expect(clientNetwork(request, 2)).toBe('198.51.100.1')
    expect(clientNetwork(from('10.0.0.1'), 1)).toBe('10.0.0.1')
  })
  test('is a /64 of IPv6, and IPv4 however it is written', () => {
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:db8:1:2:ffff::1'))
    // a /64 that ends in zeros is one network too, though `::` swallows them
    for (const one of ['2001:db8::1', '2001:db8::2:3:4', '2001:db8:0:0:a:b:c:d', '2001:0db8::'])
      expect([one, networkOf(one)]).toEqual([one, networkOf('2001:db8::ffff:1:2:3')])
    expect(networkOf('2001:db8:0:1::1')).not.toBe(networkOf('2001:db8::1'))
    expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(networkOf('2001:DB8:0:A::1')).toBe(networkOf('2001:db8:0:a::1'))
  })
  test('is the same whatever port of the client a proxy writes with it', () => {
    for (const port of [1, 4711, 65_535]) {
      expect(networkOf(`192.0.2.1:${port}`)).toBe('192.0.2.1')
      expect(networkOf(`::ffff:192.0.2.1:${port}`)).toBe('192.0.2.1')
      expect(networkOf(`[2001:db8:0:1::1]:${port}`)).toBe(networkOf('2001:db8:0:1::1'))
    }
    expect(networkOf('[2001:db8:0:1::1]')).toBe(networkOf('2001:db8:0:1::1'))
  })
})

test('a cookie is read where it is a token of ours, and its form token reveals nothing of it', () => {
  const request = new IncomingMessage(new Socket())
  const token = newToken()
  request.headers.cookie = `a=b; __Host-session=${token}; __Host-visit=short`
  expect(readCookie(request, 'session')).toBe(token)
  expect(readCookie(request, 'visit')).toBeUndefined()
  expect(csrfOf(token)).not.toContain(token)
  expect(csrfOf(token)).toBe(csrfOf(token))
  expect(csrfOf(newToken())).not.toBe(csrfOf(token))
  expect(cookieLine('session', undefined)).toContain('Max-Age=0')
})

test('a site of IPv6 has a limit in addition to those of its networks, and one network cannot use it up', () => {
  const rate = rateBy({ limit: { perSecond: 0.001, burst: 2 }, clockMs: () => 0, siteFactor: 3 })
  const tries = (network: string, count: number): number =>
    Array.from({ length: count }, () => rate.tryTake(network)).filter(Boolean).length
  // what is refused for the network does not count for the site
  expect(tries('2001:db8:1:a', 100)).toBe(2)
  expect(tries('2001:db8:1:b', 100)).toBe(2)
  expect(tries('2001:db8:1:c', 100)).toBe(2)
  expect(tries('2001:db8:1:d', 100)).toBe(0)
  expect(tries('2001:db8:2:d', 100)).toBe(2)
  for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4'])
    expect(tries(address, 100)).toBe(2)
})

test('a site of IPv6 holds ten times the connections of a network, and never more than half of all', () => {
  const placesOf = (fromPublic: number): number => {
    const takePlace = connectionPlaces({ fromPublic, fromInside: 1 })
    const taken = Array.from({ length: 20_000 }, (_, n) =>
      takePlace(`2a00:1:2:${n % 200}::${n % 9_999}`),
    )
    expect(takePlace('2a00:1:3::1')).toBeDefined()
    expect(takePlace('8.8.8.8')).toBeDefined()
    for (const giveBack of taken) giveBack?.()
    expect(takePlace('2a00:1:2::1')).toBeDefined()
    return taken.filter((place) => place !== undefined).length
  }
  expect(placesOf(5)).toBe(50)
  expect(placesOf(5_000)).toBe(mostConnections / 2)
})

test('mails requested without a session are bounded for each address and in all', () => {
  let nowMs = 0
  const { mailing } = createLimits(() => nowMs)
  const sent = Array.from({ length: 2_000 }, (_, n) => mailing.tryTake(`p${n}@example.org`))
  expect(sent.filter(Boolean)).toHaveLength(500)
  nowMs += 60_000
  const later = Array.from({ length: 2_000 }, (_, n) => mailing.tryTake(`q${n}@example.org`))
  expect(later.filter(Boolean)).toHaveLength(20)
  nowMs += 3_600_000
  const same = Array.from({ length: 10 }, () => mailing.tryTake('ada@example.org'))
  expect(same.filter(Boolean)).toHaveLength(5)
})

test('tries are counted by name, forgotten on request, and the table is bounded', () => {
  let now = 0
  const rate = rateBy({ limit: { perSecond: 1, burst: 2 }, clockMs: () => now, most: 3 })
  rate.take('ada')
  rate.take('ada')
  expect(() => rate.take('ada')).toThrow(Refusal)
  expect(rate.tryTake('bola')).toBe(true)
  rate.forget('ada')
  expect([rate.tryTake('ada'), rate.tryTake('ada'), rate.tryTake('ada')]).toEqual([
    true,
    true,
    false,
  ])
  now += 1_000
  expect([rate.tryTake('ada'), rate.tryTake('ada')]).toEqual([true, false])
  for (const other of ['c', 'd', 'e']) rate.take(other)
  expect(rate.tryTake('ada')).toBe(true)
})

test('tries at one address are not forgotten while a stranger tries many others', () => {
  const { email } = createLimits(() => 0)
  for (let n = 0; n < 100; n++) email.take('ada@example.org')
  for (let n = 0; n < 20_000; n++) email.tryTake(`${n}@example.org`)
  expect(email.tryTake('ada@example.org')).toBe(false)
})

describe('a key that expires', () => {
  const nowMs = Date.UTC(2026, 5, 1)
  const key = (leftMs: number, rest: Partial<KeyRecord> = {}): KeyRecord => ({
    id: 'key_1',
    account: 'acc_1',
    name: 'mine',
    hint: 'aqk_abcd',
    created_at: formatIso(nowMs - dayMs),
    expires_at: formatIso(nowMs + leftMs),
    ...rest,
  })
  test.each([
    [15 * dayMs, undefined],
    [14 * dayMs + 1_000, undefined],
    [14 * dayMs, 'key_expiring.key_1.14'],
    // also when no process ran at the mark
    [4 * dayMs, 'key_expiring.key_1.14'],
    [3 * dayMs, 'key_expiring.key_1.3'],
    [hourMs, 'key_expiring.key_1.3'],
    [0, undefined],
    [-hourMs, undefined],
  ])('in %i ms is reported as %s', (leftMs, id) =>
    expect(reminderFor(key(leftMs), nowMs)?.id).toBe(id),
  )
  test('is reported once at each mark, with the days that are left', () => {
    const reminder = (leftMs: number, reminded_days: number) =>
      reminderFor(key(leftMs, { reminded_days }), nowMs)
    expect(reminder(10 * dayMs, 14)).toBeUndefined()
    expect(reminder(3 * dayMs, 14)?.id).toBe('key_expiring.key_1.3')
    expect(reminder(dayMs, 3)).toBeUndefined()
    expect(reminderFor(key(9.5 * dayMs), nowMs)?.mail.data['days']).toBe(10)
  })
  test('is not reported where it is revoked, or the dashboard’s own', () => {
    expect(reminderFor(key(14 * dayMs, { revoked_at: formatIso(nowMs) }), nowMs)).toBeUndefined()
    expect(reminderFor(key(14 * dayMs, { internal: true }), nowMs)).toBeUndefined()
  })
})

test.each(mailSchema.properties.kind.enum)(
  'a mail of kind %s says everything twice, as text and as HTML',
  (kind) => {
    const data = Object.fromEntries(
      [
        'name',
        'former',
        'email',
        'hint',
        'days',
        'expires_at',
        'used',
        'limit',
        'day',
        'resets_at',
        'webhook',
        'url',
        'failures',
        'since',
        'disabled_at',
        'reason',
        'detail',
        'at',
      ].map((name) => [name, `<${name}>`]),
    )
    const links = {
      link: 'https://air.example.org/x?token=y',
      forgot: 'https://air.example.org/forgot',
    }
    const letter = letterOf(
      { kind, to: {}, data: { ...data, ...links } },
      { dashboard: 'https://air.example.org' },
    )
    const mail = composeMail(letter, {
      id: kind,
      from: 'air@example.org',
      to: 'ada@example.org',
      dashboard: 'https://air.example.org',
    })
    expect(mail.subject).toMatch(/^[\x20-\x7E’%]{10,60}$/)
    expect(mail.html).not.toMatch(/<(name|former|email|hint|url|detail)>/)
    for (const paragraph of letter.paragraphs) expect(mail.text).toContain(paragraph)
    // an unfilled placeholder would read strangely
    expect(mail.text).not.toMatch(/ {2}|undefined|\(\)/)
    expect(mail.messageId).toMatch(/^<[0-9a-f]{32}@air\.example\.org>$/)
  },
)

test.each(mailSchema.properties.kind.enum)(
  'a mail (%s) about a name of 200 characters, from right to left, on two lines, keeps its own lines and direction',
  (kind) => {
    const turned = `\u202e${'شارع الميناء '.repeat(20)}`.slice(0, 198) + '\n<'
    const names = ['name', 'former', 'email', 'hint', 'url', 'detail', 'reason', 'webhook']
    const { subject, paragraphs } = letterOf(
      { kind, to: {}, data: Object.fromEntries(names.map((name) => [name, turned])) },
      { dashboard: 'https://air.example.org' },
    )
    expect(subject.length).toBeLessThan(100)
    for (const text of [subject, ...paragraphs]) expect(text).not.toMatch(/[\n\u202a-\u202e]/)
  },
)
