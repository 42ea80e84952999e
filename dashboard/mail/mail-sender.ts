/**
 * Takes mails from stream MAIL and posts them. Several processes share one durable consumer for
 * each lane. A mail is acknowledged when the mail server has it: killed in between, it is sent
 * again, under the same Message-ID. While the server is away mails wait in the stream, each for its
 * own time.
 */

import { AckPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { dayMs, minuteMs, secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import { checkedEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { sealedMail } from '../../runtime/nats/mail-queue.ts'
import { endsPull } from '../../runtime/nats/until-silent.ts'
import { pause } from '../../runtime/pause.ts'
import type { SecretBox } from '../../runtime/secrets/seal-secret.ts'
import { asVersion1, NewerFormat } from '../../schemas/formats.ts'
import type { Account } from '../../schemas/people/account.ts'
import { isMail, laneOf, type Mail, type MailKind } from '../../schemas/people/mail.ts'
import { laneSubject, type MailLane, mailLanes, mailStream } from '../../schemas/subjects.ts'
import type { Language } from '../texts/languages.ts'
import { composeMail } from './compose.ts'
import { letterOf } from './letter.ts'
import type { Post } from './post.ts'

export type MailOutcome = 'sent' | 'refused' | 'later' | 'nobody' | 'stale' | 'unreadable'

type Options = {
  readonly nc: NatsConnection
  readonly box: SecretBox
  /** Bucket `accounts`. */
  readonly accounts: KV
  readonly post: Post
  readonly from: string
  readonly dashboard: string
  /** The operator's address, for people. */
  readonly contact?: string | undefined
  /** Of emails whose reader has not chosen one. */
  readonly language: Language
  readonly log: Logger
  readonly count: (kind: MailKind | 'unknown', outcome: MailOutcome) => void
  readonly nowMs: () => number
  /** The first pause after a failure, ms; it doubles up to a hundredfold. */
  readonly pauseMs?: number
}

/** `mailer` is older than lanes. */
const consumerOf = (lane: MailLane): string => (lane === 'out' ? 'mailer' : `mailer-${lane}`)
/** Longer than a server may take over all steps of one mail. */
const ackWaitMs = 3 * minuteMs
/** Of each lane: one slow address must not hold up the others. */
const atOnce = 4

/** Works until disposed; a mail that is being sent then is still sent. */
export async function openMailSender(options: Options): Promise<AsyncDisposable> {
  const { nc, log } = options
  const manager = await jetstreamManager(nc)
  // the same settings again change nothing
  for (const lane of mailLanes)
    await manager.consumers.add(mailStream, {
      durable_name: consumerOf(lane),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * 1_000_000,
      max_ack_pending: 256,
      filter_subject: laneSubject(lane),
    })
  const stopping = new AbortController()
  const { signal } = stopping
  const work = async (lane: MailLane): Promise<void> => {
    while (!signal.aborted) {
      try {
        await consume(options, lane, signal)
      } catch (error) {
        log.debug({ err: error, lane }, 'mails: trying again')
      }
      await pause(secondMs, signal)
    }
  }
  const ended = Promise.all(mailLanes.map(work))
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await ended
    },
  }
}

async function consume(options: Options, lane: MailLane, stop: AbortSignal): Promise<void> {
  const consumer = await jetstream(options.nc).consumers.get(mailStream, consumerOf(lane))
  const messages = await consumer.consume({ max_messages: atOnce })
  const end = (): void => messages.stop()
  stop.addEventListener('abort', end, { once: true })
  const running = new Set<Promise<void>>()
  try {
    if (stop.aborted) end()
    for await (const message of messages) {
      // what was pulled and not begun goes to the next process at once
      if (stop.aborted) {
        message.nak()
        continue
      }
      const work = handle(message, options).finally(() => running.delete(work))
      running.add(work)
      if (running.size >= atOnce) await Promise.race(running)
      // foreign: what was pulled with it is delivered again
      if (endsPull(message)) break
    }
  } finally {
    stop.removeEventListener('abort', end)
    await Promise.all(running)
  }
}

async function handle(message: JsMsg, options: Options): Promise<void> {
  const { log, count, pauseMs = 5 * secondMs } = options
  let kind: MailKind | 'unknown' = 'unknown'
  try {
    const mail = openMail(message, options.box)
    kind = mail?.kind ?? kind
    const result = await deliver(message, mail, options)
    count(kind, result.outcome)
    switch (result.outcome) {
      case 'sent':
        log.info({ kind, where: result.why }, 'mail sent')
        break
      case 'nobody':
        break
      case 'refused':
      case 'stale':
      case 'unreadable':
        log.warn({ kind, why: result.why }, `mail given up: ${result.outcome}`)
        break
      case 'later':
        log.warn({ kind, why: result.why }, 'mail not sent yet: trying again')
        message.nak(pauseMs * Math.min(100, 2 ** (message.info.deliveryCount - 1)))
        return
    }
    await message.ackAck()
  } catch (error) {
    // NATS or the disk is away: it is delivered again
    log.warn({ err: error, kind }, 'mail not sent yet: trying again')
    message.nak(pauseMs)
  }
}

type Result = { readonly outcome: MailOutcome; readonly why: string }

async function deliver(message: JsMsg, mail: Mail | undefined, options: Options): Promise<Result> {
  const { post, from, dashboard, contact, nowMs } = options
  if (mail === undefined)
    return {
      outcome: 'unreadable',
      why: 'it was sealed with another key, or is not a mail of its lane',
    }
  const account = await accountOf(mail, options.accounts)
  const language = mail.to.language ?? account?.language ?? options.language
  const letter = letterOf(mail, { dashboard, contact, language })
  const ageMs = nowMs() - message.time.getTime()
  if (letter.isForADay === true && ageMs > dayMs)
    return { outcome: 'stale', why: 'its link is too old' }
  const to = mail.to.email ?? account?.email
  if (to === undefined) return { outcome: 'nobody', why: '' }
  const id = message.headers?.get('Nats-Msg-Id') || String(message.seq)
  const posted = await post.send(composeMail(letter, { id, from, to, dashboard }))
  return {
    outcome: posted.outcome,
    why: posted.outcome === 'sent' ? posted.where : posted.why,
  }
}

/**
 * Other processes may write alerts, and hold the encryption key: none of them may have a link sent
 * to a person. In 0.1 all mails arrived on the subject of the first lane, the dashboard's own.
 */
const isOfLane = ({ kind }: Mail, subject: string): boolean =>
  subject === laneSubject('out') || subject === laneSubject(laneOf[kind])

function openMail(message: JsMsg, box: SecretBox): Mail | undefined {
  try {
    const mail = asVersion1('mail', JSON.parse(box.open(message.string(), sealedMail)))
    return isMail(mail) && isOfLane(mail, message.subject) ? mail : undefined
  } catch (error) {
    // it waits for a dashboard that knows it
    if (error instanceof NewerFormat) throw error
    return undefined
  }
}

/** @returns undefined where the account no longer exists, or the mail names only an address */
async function accountOf({ to }: Mail, accounts: KV): Promise<Account | undefined> {
  if (to.account === undefined) return undefined
  return checkedEntry<Account>(await accounts.get(to.account))
}
