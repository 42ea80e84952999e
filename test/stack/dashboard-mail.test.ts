/** Mails on their way: nothing is lost, nothing waits for what it need not. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { jetstream, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { dayMs } from '../../core/time.ts'
import { composeMail } from '../../dashboard/mail/compose.ts'
import { openKeyReminders } from '../../dashboard/mail/key-reminders.ts'
import { letterOf } from '../../dashboard/mail/letter.ts'
import { openMailSender } from '../../dashboard/mail/mail-sender.ts'
import { type Post, smtpPost } from '../../dashboard/mail/post.ts'
import { createAccount, createKey, listKeys, openAccountBook } from '../../operate/account-book.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { countDropped, MailFull, openMailQueue, sealedMail } from '../../runtime/nats/mail-queue.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { newSecretKey, secretBox } from '../../runtime/secrets/seal-secret.ts'
import type { Mail } from '../../schemas/people/mail.ts'
import { laneSubject, mailStream } from '../../schemas/subjects.ts'
import { testAuthority } from '../support/certificates.ts'
import { testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { confirm, signUp } from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const box = secretBox(newSecretKey())
const log = openLog({ name: 'test', level: 'silent' })

const waiting = async (nc: NatsConnection): Promise<number> =>
  (await (await jetstreamManager(nc)).streams.info(mailStream)).state.messages

type Outcomes = string[]

async function openSender(nc: NatsConnection, post: Post, outcomes: Outcomes = []) {
  await ensureStreams(nc)
  const book = await openAccountBook(nc)
  const sender = await openMailSender({
    nc,
    box,
    accounts: book.accounts,
    post,
    from: 'airproof <air@example.org>',
    dashboard: 'https://air.example.org',
    language: 'en',
    log,
    count: (kind, outcome) => outcomes.push(`${kind} ${outcome}`),
    nowMs: Date.now,
    pauseMs: 100,
  })
  return { sender, book, queue: openMailQueue(nc, box, countDropped(new Registry())) }
}

const confirmTo = (email: string): Mail => ({
  kind: 'confirm',
  to: { email },
  data: { link: 'https://air.example.org/confirm?token=x' },
})

test.concurrent('with the mail server down mails wait, through a restart of ours, and arrive when it is back', async () => {
  const port = await freePort()
  await using dashboard = await testDashboard({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
  expect((await signUp(dashboard.browser(), { email: 'ada@example.org' })).status).toBe(200)
  await eventually('the failure is logged', () =>
    dashboard.logged.some((line) => /not sent yet/.test(line)),
  )
  await dashboard.stop()
  expect(await waiting(dashboard.nc)).toBe(1)
  await using smtp = await testSmtp({ port })
  await dashboard.start()
  // the pauses double from 5 s on: after a slow stop the next try is the fourth or fifth
  await smtp.mailTo('ada@example.org', /\/confirm\?token=/)
  await eventually('nothing waits any more', async () => (await waiting(dashboard.nc)) === 0)
})

test.concurrent('an address that the server refuses is given up; a slow one delays no other', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  smtp.refuse.add('refused@example.org')
  const { promise: slow, resolve: release } = Promise.withResolvers<void>()
  smtp.hold.set('slow@example.org', slow)
  using post = smtpPost(smtp.url)
  const outcomes: Outcomes = []
  const { sender, queue } = await openSender(nc, post, outcomes)
  await queue.send('1', confirmTo('slow@example.org'))
  await queue.send('2', confirmTo('refused@example.org'))
  await queue.send('3', confirmTo('ada@example.org'))
  await smtp.mailTo('ada@example.org')
  await eventually('one is left', async () => (await waiting(nc)) === 1)
  expect(outcomes.toSorted()).toEqual(['confirm refused', 'confirm sent'])
  release()
  await smtp.mailTo('slow@example.org')
  await eventually('none is left', async () => (await waiting(nc)) === 0)
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('to another machine nothing is sent without TLS, unless the operator allows it; the mail waits', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  const warnings: string[] = []
  const send = async (url: string, allowPlain: boolean) => {
    using post = smtpPost(url, { allowPlain })
    const posted = await post.send(
      composeMail(
        letterOf(confirmTo('ada@example.org'), { dashboard: 'https://air.example.org' }),
        {
          id: '1',
          from: 'air@example.org',
          to: 'ada@example.org',
          dashboard: 'https://air.example.org',
        },
      ),
    )
    warnings.push('why' in posted ? posted.why : '')
    return posted.outcome
  }
  expect(await send(smtp.farUrl, false)).toBe('later')
  expect(warnings.at(-1)).toMatch(/offers no TLS .* set AIRPROOF_ALLOW_PLAIN_SMTP=1/)
  expect(await send(`${smtp.farUrl}?requireTLS=false&ignoreTLS=true`, false)).toBe('later')
  expect(smtp.mails).toEqual([])
  expect(await send(smtp.url, false)).toBe('sent')
  expect(await send(smtp.farUrl, true)).toBe('sent')

  using post = smtpPost(smtp.farUrl)
  const outcomes: Outcomes = []
  const { sender, queue } = await openSender(nc, post, outcomes)
  await queue.send('1', confirmTo('ada@example.org'))
  await eventually('it was tried twice', () => outcomes.length >= 2)
  expect(outcomes).not.toContain('confirm sent')
  expect(await waiting(nc)).toBe(1)
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('with STARTTLS and a trusted certificate mails are sent to another machine', async () => {
  using folder = temporaryFolder()
  const authority = testAuthority(folder.path)
  await using smtp = await testSmtp({ certificate: authority.issue({ name: '0.0.0.0' }) })
  const mail = composeMail(
    letterOf(confirmTo('ada@example.org'), { dashboard: 'https://air.example.org' }),
    {
      id: '1',
      from: 'air@example.org',
      to: 'ada@example.org',
      dashboard: 'https://air.example.org',
    },
  )
  using post = smtpPost(smtp.farUrl)
  expect((await post.send(mail)).outcome).toBe('later')
  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, authority.ca])
  try {
    expect(await post.send(mail)).toMatchObject({ outcome: 'sent' })
  } finally {
    setDefaultCACertificates(usual)
  }
})

test.concurrent('a silent server is left in time, and the mail is tried again', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  const { promise: never, resolve: release } = Promise.withResolvers<void>()
  smtp.hold.set('ada@example.org', never)
  using post = smtpPost(smtp.url, { connectMs: 5_000, silentMs: 200 })
  const outcomes: Outcomes = []
  const { sender, queue } = await openSender(nc, post, outcomes)
  await queue.send('1', confirmTo('ada@example.org'))
  await eventually('it was left', () => outcomes.includes('confirm later'))
  expect(await waiting(nc)).toBe(1)
  smtp.hold.clear()
  release()
  await eventually('it is sent', () => outcomes.includes('confirm sent'))
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('the same notice is mailed once, and two senders send no mail twice', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  using post = smtpPost(smtp.url)
  const { sender: first, queue } = await openSender(nc, post)
  const { sender: second } = await openSender(nc, post)
  const ids = Array.from({ length: 12 }, (_, n) => `fact.${n}`)
  for (const id of [...ids, ...ids]) await queue.send(id, confirmTo(`${id}@example.org`))
  await eventually('all are sent', async () => (await waiting(nc)) === 0)
  expect(smtp.mails.map(({ to }) => to).toSorted()).toEqual(
    ids.map((id) => `${id}@example.org`).toSorted(),
  )
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await nc.close()
})

const alertTo = (email: string): Mail => ({ ...confirmTo(email), kind: 'webhook_failing' })
const noticeTo = (email: string): Mail => ({ ...confirmTo(email), kind: 'password_changed' })

test.concurrent('a process that may only write alerts has no link sent, and no mail is repeated for ever', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  using post = smtpPost(smtp.url)
  const { sender, queue } = await openSender(nc, post)
  const link = { link: 'https://evil.example/confirm' }
  const forged = [
    ...(['confirm', 'reset', 'confirm_new_email', 'password_changed'] as const).map((kind) => ({
      ...confirmTo('ada@example.org'),
      kind,
      data: link,
    })),
    { kind: 'of no kind', to: { email: 'ada@example.org' }, data: link },
    { kind: 'webhook_failing', to: null, data: {} },
    [],
    null,
  ]
  for (const mail of forged)
    await jetstream(nc).publish(laneSubject('alert'), box.seal(JSON.stringify(mail), sealedMail))
  await queue.send('alert', alertTo('ada@example.org'))
  await eventually('none waits', async () => (await waiting(nc)) === 0)
  expect(smtp.mails.length).toBe(1)
  expect(smtp.mails[0]?.text).not.toContain('evil.example')
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('what waits is never pushed out: alerts have a share, and a request for one too many is refused', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  const { streams } = await jetstreamManager(nc)
  // as 0.1 made it: the oldest mail went when there was no room
  await streams.add({
    name: mailStream,
    subjects: ['mail.>'],
    retention: RetentionPolicy.Workqueue,
    max_bytes: 64 * 1024 * 1024,
    duplicate_window: 2 * 86_400 * 1e9,
  })
  await ensureStreams(nc)
  const registry = new Registry()
  const queue = openMailQueue(nc, box, countDropped(registry))
  expect(await queue.send('first', confirmTo('first@example.org'))).toBe(true)

  // as long as it may be: a lane that is full leaves room for the others
  const tooLong = jetstream(nc).publish(laneSubject('alert'), 'x'.repeat(6 * 1_024 + 1))
  await expect(tooLong).rejects.toThrow(/maximum/)
  const detail = '\u0000'.repeat(200)
  const url = 'u'.repeat(300)
  const longest = { ...alertTo('ada@example.org'), data: { url, description: detail, detail } }
  expect(await queue.send('longest', longest)).toBe(true)

  const share = 8_191
  for (let n = 0; n < share; n++) nc.publish(laneSubject('alert'), 'an alert that waits')
  await nc.flush()
  expect(await queue.send('alert', alertTo('ada@example.org'))).toBe(false)
  expect(await queue.send('second', confirmTo('second@example.org'))).toBe(true)
  expect(await queue.send('notice', noticeTo('ada@example.org'))).toBe(true)

  // all the bytes are taken
  const { state } = await streams.info(mailStream)
  await streams.update(mailStream, { max_bytes: state.bytes })
  await expect(queue.send('third', confirmTo('third@example.org'))).rejects.toThrow(MailFull)
  // the password was changed already: the page must not fail for want of a mail about it
  expect(await queue.send('notice.2', noticeTo('ada@example.org'))).toBe(false)
  const { messages, first_seq } = (await streams.info(mailStream)).state
  expect([messages, first_seq]).toEqual([share + 4, 1])
  const text = await registry.metrics()
  for (const kind of ['webhook_failing', 'confirm', 'password_changed'])
    expect(text).toContain(`airproof_mails_dropped_total{kind="${kind}"} 1`)
  await nc.close()
})

test.concurrent('with no room for mails sign-up answers 503, and works when there is room again', async () => {
  await using dashboard = await testDashboard()
  const { streams } = await jetstreamManager(dashboard.nc)
  const roomOf = (max_bytes: number) => streams.update(mailStream, { max_bytes })
  await roomOf(1)
  const browser = dashboard.browser()
  const full = await signUp(browser, { email: 'ada@example.org' })
  expect([full.status, full.headers.get('retry-after'), full.text]).toEqual([
    503,
    '2',
    expect.stringContaining('Too many emails are waiting to be sent'),
  ])
  const answered = await browser.get('/forgot', {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({
      csrf: /name="csrf" value="([^"]+)"/.exec((await browser.get('/forgot')).text)?.[1] ?? '',
      email: 'ada@example.org',
    }),
  })
  expect(JSON.parse(answered.text)).toMatchObject({ error: { code: 'mail_full' } })
  await roomOf(1_000_000)
  expect((await signUp(browser, { email: 'ada@example.org' })).status).toBe(200)
})

test.concurrent('alerts that cannot be sent do not delay what people wait for', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  const { promise: slow, resolve: release } = Promise.withResolvers<void>()
  for (let n = 0; n < 8; n++) smtp.hold.set(`slow-${n}@example.org`, slow)
  using post = smtpPost(smtp.url)
  const { sender, queue } = await openSender(nc, post)
  for (let n = 0; n < 8; n++) await queue.send(`${n}`, alertTo(`slow-${n}@example.org`))
  await queue.send('reset', { ...confirmTo('ada@example.org'), kind: 'reset' })
  await smtp.mailTo('ada@example.org')
  expect(await waiting(nc)).toBeGreaterThanOrEqual(8)
  release()
  await eventually('none is left', async () => (await waiting(nc)) === 0)
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('a key that began to expire while no process ran gets one mail, also with two processes', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const book = await openAccountBook(nc)
  const leftMs = 5 * dayMs
  const { record } = await createKey(book, {
    account: 'acc_1',
    name: 'mine',
    nowMs: Date.now() - 90 * dayMs + leftMs,
  })
  const sent: string[] = []
  const mails = {
    send: async (id: string) => {
      sent.push(id)
      return await queue.send(id, alertTo('ada@example.org'))
    },
  }
  const queue = openMailQueue(nc, box, countDropped(new Registry()))
  const looking = (nowMs: () => number) =>
    openKeyReminders({
      nc,
      mails,
      nowMs,
      onFailure: (error) => void sent.push(String(error)),
      everyMs: 20,
    })
  const remindedAt = (mark: number) =>
    eventually(`the mark of ${mark} days is written down`, async () => {
      const [key] = await listKeys(book)
      return key?.reminded_days === mark
    })
  {
    await using _first = await looking(Date.now)
    await using _second = await looking(Date.now)
    await remindedAt(14)
    await using _later = await looking(() => Date.now() + 3 * dayMs)
    await remindedAt(3)
  }
  expect(new Set(sent)).toEqual(
    new Set([`key_expiring.${record.id}.14`, `key_expiring.${record.id}.3`]),
  )
  expect(await waiting(nc)).toBe(2)
  await nc.close()
})

test.concurrent('a mail for an account is sent to its present address; not to a deleted account, nor to an unreadable address', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  using post = smtpPost(smtp.url)
  const outcomes: Outcomes = []
  const { sender, queue, book } = await openSender(nc, post, outcomes)
  const account = await createAccount(book, {
    email: 'ada@example.org',
    name: 'Ada',
    tier: 'free',
    nowMs: Date.now(),
  })
  const data = { used: 80, limit: 100, day: '2026-01-01', resets_at: '2026-01-02T00:00:00Z' }
  await queue.send('1', { kind: 'quota_80', to: { account: 'acc_nobody' }, data })
  nc.publish(laneSubject('out'), 'v1.sealed-by-nobody')
  await queue.send('2', { kind: 'quota_80', to: { account: account.id }, data })
  const { text } = await smtp.mailTo('ada@example.org')
  expect(text).toContain('80 of 100 requests')
  expect(text).toMatch(/^Auto-Submitted: auto-generated\r?$/m)
  await eventually('none is left', async () => (await waiting(nc)) === 0)
  expect(outcomes.toSorted()).toEqual(['quota_80 nobody', 'quota_80 sent', 'unknown unreadable'])
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('a name with line breaks makes no headers of its own, and no other person a recipient', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using smtp = await testSmtp()
  using post = smtpPost(smtp.url)
  const { sender, queue } = await openSender(nc, post)
  const name = 'Ada\r\nBcc: bola@example.org\r\n\r\nhello'
  // the subject is a header, and takes a word of the mail's facts
  await queue.send('1', {
    kind: 'key_expiring',
    to: { email: 'ada@example.org' },
    data: { name, days: name, hint: 'aqk_', expires_at: '2026-12-01T00:00:00Z' },
  })
  const { text, to } = await smtp.mailTo('ada@example.org')
  expect(to).toBe('ada@example.org')
  expect(text).not.toMatch(/^Bcc:/im)
  expect(smtp.mails).toHaveLength(1)
  await sender[Symbol.asyncDispose]()
  await nc.close()
})

test.concurrent('without a mail server each mail is a file that only its owner may read, and the log has no link', async () => {
  await using dashboard = await testDashboard()
  await signUp(dashboard.browser(), { email: 'ada@example.org' })
  const folder = join(dashboard.folder, 'mail')
  const name = await eventually('a file', () =>
    readdirSync(folder).find((file) => file.endsWith('.eml')),
  )
  // as `cat` shows it: the link on a line of its own
  const text = readFileSync(join(folder, name), 'utf8')
  const [link = ''] = /^http\S+\/confirm\?token=[\w-]{43}$/m.exec(text) ?? []
  expect(text).toContain('Subject: Confirm your account\n')
  expect(text).not.toMatch(/=3D|<html|\r/)
  expect(link.startsWith(dashboard.url)).toBe(true)
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  const { pathname, search } = new URL(link)
  expect((await confirm(dashboard.browser(), pathname + search)).status).toBe(200)
  const lines = await eventually('it is logged', () =>
    dashboard.logged.find((line) => line.includes('mail sent')),
  )
  expect(lines).toContain(name)
  expect(dashboard.logged.join('')).not.toContain(search.slice('?token='.length))
})
