/**
 * Mails to the owner of a webhook: its endpoint keeps failing, or it was disabled. The dashboard's
 * sender writes the text; these are the facts, each with an id that does not depend on the process
 * that finds it out, so that it is mailed once.
 */

import { warningsMs } from '../../core/delivery/attempt-verdict.ts'
import type { Health } from '../../core/delivery/delivery.ts'
import { formatIso } from '../../core/iso-time.ts'
import { hourMs } from '../../core/time.ts'
import type { Mail } from '../../schemas/people/mail.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'

export type TellableMail = { readonly id: string; readonly mail: Mail }

/** A warning is due when the endpoint has failed for as long as one of these marks. */
export function failingMail(webhook: Webhook, health: Health): TellableMail {
  const { failures, firstFailureMs, lastFailureMs } = health
  const spanMs = lastFailureMs - firstFailureMs
  const markMs = Math.max(...warningsMs.filter((mark) => mark <= spanMs), 0)
  return {
    id: `webhook_failing-${webhook.id}-${firstFailureMs}-${markMs / hourMs}`,
    mail: {
      kind: 'webhook_failing',
      to: { account: webhook.account },
      data: {
        ...namesOf(webhook),
        failures,
        since: formatIso(firstFailureMs),
        last_failure: formatIso(lastFailureMs),
        hours: Math.floor(spanMs / hourMs),
      },
    },
  }
}

export type Disabling = {
  readonly reason: 'gone' | 'failing'
  readonly detail: string
  readonly atMs: number
  /** The health of an endpoint that failed. */
  readonly health: Health
}

/** @param webhook as it was before, so that each disabling after a change is mailed again */
export function disabledMail(
  webhook: Webhook,
  { reason, detail, atMs, health }: Disabling,
): TellableMail {
  const { failures, firstFailureMs } = health
  return {
    id: `webhook_disabled-${webhook.id}-${webhook.updated_at}`,
    mail: {
      kind: 'webhook_disabled',
      to: { account: webhook.account },
      data: {
        ...namesOf(webhook),
        reason,
        detail,
        disabled_at: formatIso(atMs),
        ...(reason === 'failing' ? { failures, since: formatIso(firstFailureMs) } : {}),
      },
    },
  }
}

const namesOf = ({ id, url, description = '' }: Webhook): Mail['data'] => ({
  webhook: id,
  url: shownUrl(url),
  description,
})

const longestPart = 12

/** Origin and first part of the path: the rest may hold a token that grants access. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const [first = '', ...rest] = pathname.slice(1).split('/')
  const isCut = first.length > longestPart || rest.length > 0 || search !== ''
  return `${origin}/${first.slice(0, longestPart)}${isCut ? '…' : ''}`
}
