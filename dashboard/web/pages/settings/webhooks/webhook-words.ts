import { accountTexts } from '../../../account-texts.ts'
import type { Health } from './webhook-health.ts'
import type { Delivery, Outcome, Webhook } from './webhook-types.ts'

type Words = { readonly label: string; readonly kind: '' | 'ok' | 'warn' | 'error' }

const {
  health: healthWords,
  states,
  why,
  outcomes,
  errors: errorTexts,
  triggers: triggerTexts,
} = accountTexts.webhooks
const byHealth: Readonly<Record<Health['state'], Words>> = {
  none: { label: healthWords.states.none, kind: '' },
  ok: { label: healthWords.states.ok, kind: 'ok' },
  some: { label: healthWords.states.some, kind: 'warn' },
  failing: { label: healthWords.states.failing, kind: 'error' },
}

/**
 * The reasons why a webhook does not send, the strongest first; then how well it does.
 * @param health undefined: not known yet
 */
export function webhookState(webhook: Webhook, health: Health['state'] | undefined): Words {
  if (webhook.disabled !== null || !webhook.active) return { label: states.disabled, kind: 'error' }
  if (webhook.suspended === true) return { label: states.suspended, kind: 'warn' }
  if (webhook.paused) return { label: states.paused, kind: 'warn' }
  return health === undefined ? { label: healthWords.states.unknown, kind: '' } : byHealth[health]
}

/** Why, and what to do about it; undefined where nothing is wrong. */
export function whyNotSending(webhook: Webhook): string | undefined {
  if (webhook.disabled !== null) {
    const detail = webhook.disabled.detail === undefined ? '' : ` (${webhook.disabled.detail})`
    return why[webhook.disabled.reason](detail)
  }
  if (!webhook.active) return why.off
  if (webhook.suspended === true) return why.suspended
  if (webhook.paused) return why.paused
  return undefined
}

const outcomeWords: Readonly<Record<Outcome, Words>> = {
  delivered: { label: outcomes.delivered, kind: 'ok' },
  retry: { label: outcomes.retry, kind: 'warn' },
  dead: { label: outcomes.dead, kind: 'error' },
  disabled: { label: outcomes.disabled, kind: 'error' },
  cancelled: { label: outcomes.cancelled, kind: '' },
}

/** An example that failed is not tried again. */
export const attemptWords = (attempt: {
  readonly outcome: Outcome
  readonly trigger: string
}): Words =>
  attempt.trigger === 'test' && attempt.outcome === 'retry'
    ? { label: outcomes.failed, kind: 'error' }
    : outcomeWords[attempt.outcome]

export const deliveryWords: Readonly<Record<Delivery['state'], Words>> = {
  ...outcomeWords,
  pending: { label: outcomes.pending, kind: 'warn' },
  in_flight: { label: outcomes.in_flight, kind: 'warn' },
}

const errors: Readonly<Record<string, string>> = errorTexts

const triggers: Readonly<Record<string, string>> = triggerTexts

export const triggerWords = (trigger: string): string => triggers[trigger] ?? trigger

export const errorWords = (error: string): string => errors[error] ?? error

/** Endpoints that fail five times in a row get a pause. */
const breakerFailures = 5

/** @param newest outcomes of the newest attempts, the newest first */
export const isFailing = (newest: readonly Outcome[]): boolean =>
  newest.length >= breakerFailures &&
  newest.slice(0, breakerFailures).every((outcome) => outcome === 'retry' || outcome === 'dead')
