/**
 * Mails 14 and 3 days before a key expires. Every process looks; the mail's id says which key and
 * mark it is, so the stream keeps one of however many are queued.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { dayMs, minuteMs } from '../../core/time.ts'
import type { MailQueue } from '../../runtime/mail-queue.ts'
import { watchChecked } from '../../runtime/watched-bucket.ts'
import type { KeyRecord } from '../../schemas/account.ts'
import type { Mail } from '../../schemas/mail.ts'
import { buckets } from '../../schemas/subjects.ts'

type Reminder = { readonly id: string; readonly mail: Mail }

const marks = [
  // for a while after its mark only, which is shorter than the stream remembers ids
  { days: 14, forMs: 1.5 * dayMs },
  { days: 3, forMs: 1.5 * dayMs },
] as const

/** @returns undefined where none is due */
export function reminderFor(key: KeyRecord, nowMs: number): Reminder | undefined {
  if (key.revoked_at !== undefined || key.internal === true) return undefined
  const leftMs = Date.parse(key.expires_at) - nowMs
  const due = marks.find(
    ({ days, forMs }) => leftMs <= days * dayMs && leftMs > days * dayMs - forMs,
  )
  if (due === undefined) return undefined
  const { id, account, name, hint, expires_at } = key
  return {
    id: `key_expiring.${id}.${due.days}`,
    mail: {
      kind: 'key_expiring',
      to: { account },
      data: { name, hint, expires_at, days: due.days },
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
  // written by our own processes alone, so taken as it is
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const keys = await watchChecked<KeyRecord>(nc, buckets.keys)
  let told = new Set<string>()
  const look = async (): Promise<void> => {
    const due = [...keys.entries()]
      .map(([, key]) => reminderFor(key, nowMs()))
      .filter((one) => one !== undefined)
    // what is no longer due need not be remembered
    told = new Set(due.map(({ id }) => id).filter((id) => told.has(id)))
    for (const { id, mail } of due) {
      if (told.has(id)) continue
      await mails.send(id, mail)
      told.add(id)
    }
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
