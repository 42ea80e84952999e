/**
 * The attempts that were made for a webhook, newest first. The stream can only be read forwards,
 * and a webhook's messages are anywhere in it; but a read returns how many more follow, so the
 * place where the last N start is found by halving.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { asVersion1, NewerFormat } from '../../schemas/formats.ts'
import { attemptSubject, attemptsStream } from '../../schemas/subjects.ts'
import { type Attempt, isAttempt } from '../../schemas/webhooks/attempt.ts'
import { AttemptsAway } from './delivery-errors.ts'

export type LoggedAttempt = { readonly seq: number; readonly attempt: Attempt }

export type AttemptLog = {
  /** Newest first; reads only as far as the caller iterates. @throws AttemptsAway */
  readonly read: (webhook: string, options?: ReadOptions) => AsyncGenerator<LoggedAttempt>
}

export type ReadOptions = {
  /** A sequence: only attempts before it. */
  readonly before?: number | undefined
  /** Only attempts with this text in them: the others are not even parsed. */
  readonly containing?: string
  /** Aborted when no caller needs more. */
  readonly gone?: AbortSignal | undefined
}

/** Read at a time; up to twice as many if that saves searching for the place. */
const window = 100
const answerWithinMs = 5_000

export const createAttemptLog = (nc: NatsConnection): AttemptLog => ({
  async *read(webhook, { before = Number.POSITIVE_INFINITY, containing = '', gone } = {}) {
    const subject = attemptSubject(webhook)
    const last = await lastMessage(nc, attemptsStream, subject)
    let end = Math.min(before, (last?.seq ?? 0) + 1)
    while (end > 1) {
      gone?.throwIfAborted()
      const after = await countFrom(nc, subject, end)
      const countIn = async (seq: number): Promise<number> =>
        (await countFrom(nc, subject, seq)) - after
      const { start, count } = await findWindow(end, countIn)
      if (count === 0) return
      const messages = await readFrom(nc, subject, { seq: start, most: count })
      for (const { seq, text } of messages.toReversed()) {
        const attempt = seq < end && text.includes(containing) ? parse(text) : undefined
        if (attempt !== undefined) yield { seq, attempt }
      }
      end = start
    }
  },
})

type Message = { readonly seq: number; readonly pending: number; readonly text: string }

/** Oldest first: at most `most` messages at a sequence and after it. */
async function readFrom(
  nc: NatsConnection,
  subject: string,
  { seq, most }: { readonly seq: number; readonly most: number },
): Promise<readonly Message[]> {
  // nats-server ADR-31; the client's own request would leak a subscription each time
  const request = JSON.stringify({ seq, next_by_subj: subject, batch: most })
  const messages: Message[] = []
  try {
    const answers = await nc.requestMany(`$JS.API.DIRECT.GET.${attemptsStream}`, request, {
      strategy: 'sentinel',
      maxWait: answerWithinMs,
    })
    for await (const { headers, data } of answers) {
      const number = (name: string): number => Number(headers?.get(name) || 0)
      const status = headers?.code ?? 0
      // the end of the answers, or no message at all
      if (status === 204 || status === 404) return messages
      if (status !== 0) throw new Error(`${attemptsStream} answers ${status}`)
      const text = new TextDecoder().decode(data)
      messages.push({ seq: number('Nats-Sequence'), pending: number('Nats-Num-Pending'), text })
    }
  } catch (cause) {
    throw new AttemptsAway(cause)
  }
  throw new AttemptsAway(new Error(`${attemptsStream} stopped in the middle of an answer`))
}

async function countFrom(nc: NatsConnection, subject: string, seq: number): Promise<number> {
  const [first] = await readFrom(nc, subject, { seq, most: 1 })
  return first === undefined ? 0 : first.pending + 1
}

/** Where about `window` messages before `end` start: perhaps some more, fewer if that is all. */
async function findWindow(
  end: number,
  countIn: (seq: number) => Promise<number>,
): Promise<{ readonly start: number; readonly count: number }> {
  let width = window
  let start = Math.max(1, end - width)
  let count = await countIn(start)
  let tooLate = end
  while (start > 1 && count < window) {
    tooLate = start
    width *= 4
    start = Math.max(1, end - width)
    count = await countIn(start)
  }
  // from `start` on there are enough, perhaps far too many; from `tooLate` on too few
  while (tooLate - start > 1 && count > 2 * window) {
    const middle = Math.floor((start + tooLate) / 2)
    const counted = await countIn(middle)
    if (counted < window) tooLate = middle
    else {
      start = middle
      count = counted
    }
  }
  return { start, count }
}

function parse(text: string): Attempt | undefined {
  try {
    const value = asVersion1('attempt', JSON.parse(text))
    return isAttempt(value) ? value : undefined
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    return undefined
  }
}
