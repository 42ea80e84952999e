/**
 * Mails to an account that has used 80 % and 100 % of its day. The first process that sees it
 * queues the mail; the queue accepts the same mail once. If that process died before, no mail is
 * lost: every later round sees it too.
 */

import { dayEndsMs, dayOf, type Limits } from '../../core/access/quota.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { Mail } from '../../schemas/people/mail.ts'

type Options = {
  /** Resolves when it is queued, or dropped because too many wait. */
  readonly send: (id: string, mail: Mail) => Promise<unknown>
  readonly onFailed: (error: unknown) => void
  /** Bound on the mails remembered as sent. */
  readonly most?: number
}

const kinds = [
  { kind: 'quota_80', share: 0.8 },
  { kind: 'quota_100', share: 1 },
] as const

/** @returns a function to call after each round with what the account has used of its day */
export function createQuotaMails({
  send,
  onFailed,
  most = 100_000,
}: Options): (account: string, used: number, limits: Limits, nowMs: number) => void {
  const sent = new BoundedMap<string, true>(most)
  const queue = async (id: string, mail: Mail): Promise<void> => {
    sent.set(id, true)
    try {
      await send(id, mail)
    } catch (error) {
      sent.delete(id)
      onFailed(error)
    }
  }
  return (account, used, { perDay }, nowMs) => {
    for (const { kind, share } of kinds) {
      if (used < share * perDay) return
      const day = dayOf(nowMs)
      const id = `${kind}.${day}.${account}`
      if (sent.has(id)) continue
      const resets_at = formatIso(dayEndsMs(nowMs))
      void queue(id, { kind, to: { account }, data: { used, limit: perDay, day, resets_at } })
    }
  }
}
