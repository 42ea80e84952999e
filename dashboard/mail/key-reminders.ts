/**
 * Mails 14 and 3 days before a key expires, or later as soon as a process runs. Every process
 * looks; the mail's id names the key and the mark, so the stream stores only one of those queued,
 * and the key's record holds what was queued for longer than the stream.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { dayMs, minuteMs } from '../../core/time.ts'
import { watchChecked } from '../../runtime/nats/buckets/watched-bucket.ts'
import { putUnlessChanged } from '../../runtime/nats/cas.ts'
import type { MailQueue } from '../../runtime/nats/mail-queue.ts'
import type { KeyRecord } from '../../schemas/people/account.ts'
import type { Mail } from '../../schemas/people/mail.ts'
import { buckets } from '../../schemas/subjects.ts'

type Reminder = { readonly id: string; readonly mail: Mail; readonly mark: number }

/** Days before the end, the last one first. */
const marks = [3, 14] as const

/** @returns undefined if no mail is due */
export function reminderFor(key: KeyRecord, nowMs: number): Reminder | undefined {
  if (key.revoked_at !== undefined || key.internal === true) return undefined
  const leftMs = Date.parse(key.expires_at) - nowMs
  const mark = marks.find((days) => leftMs <= days * dayMs)
  if (leftMs <= 0 || mark === undefined || mark >= (key.reminded_days ?? Infinity)) return undefined
  const { id, account, name, hint, expires_at } = key
  return {
    id: `key_expiring.${id}.${mark}`,
    mark,
    mail: {
      kind: 'key_expiring',
      to: { account },
      data: { name, hint, expires_at, days: Math.ceil(leftMs / dayMs) },
    },
  }
}

type Options = {
  readonly nc: NatsConnection
  readonly mails: MailQueue
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
  readonly everyMs?: number
}

export async function openKeyReminders(options: Options): Promise<AsyncDisposable> {
  const { nc, mails, nowMs, onFailure, everyMs = minuteMs } = options
  const keys = await watchChecked<KeyRecord>(nc, buckets.keys)
  const look = async (): Promise<void> => {
    for (const hash of [...keys.entries()].map(([key]) => key)) await remind(hash)
  }
  /**
   * Queued first, then recorded: killed in between, the next look queues the same mail, which the
   * stream takes once. If the record changed meanwhile (the key was revoked, another process was
   * first), or the mail was dropped because too many wait, the next look decides again.
   */
  const remind = async (hash: string): Promise<void> => {
    const seen = keys.get(hash)
    if (seen === undefined || reminderFor(seen, nowMs()) === undefined) return
    const entry = await keys.kv.get(hash)
    if (entry?.operation !== 'PUT') return
    const key = entry.json<KeyRecord>()
    const due = reminderFor(key, nowMs())
    if (due === undefined || !(await mails.send(due.id, due.mail))) return
    await putUnlessChanged(keys.kv, hash, { ...key, reminded_days: due.mark }, entry)
  }
  const lookSafely = (): void => void look().catch(onFailure)
  lookSafely()
  const timer = setInterval(lookSafely, everyMs)
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await keys[Symbol.asyncDispose]()
    },
  }
}
