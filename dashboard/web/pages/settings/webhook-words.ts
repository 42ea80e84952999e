import type { Delivery, Outcome, Webhook } from './webhook-types.ts'

type Words = { readonly label: string; readonly kind: '' | 'ok' | 'warn' | 'error' }

/** The reasons why a webhook does not send, the strongest first. */
export function webhookState(webhook: Webhook): Words {
  if (webhook.disabled !== null || !webhook.active) return { label: 'disabled', kind: 'error' }
  if (webhook.suspended === true) return { label: 'suspended', kind: 'warn' }
  if (webhook.paused) return { label: 'paused', kind: 'warn' }
  return { label: 'active', kind: 'ok' }
}

/** Why, and what to do about it; undefined where nothing is wrong. */
export function whyNotSending(webhook: Webhook): string | undefined {
  if (webhook.disabled !== null) {
    const detail = webhook.disabled.detail === undefined ? '' : ` (${webhook.disabled.detail})`
    switch (webhook.disabled.reason) {
      case 'gone':
        return `The address answered 410 Gone${detail}. Resume it when it is there again; “Send again since” brings what happened meanwhile.`
      case 'failing':
        return `It failed for five days${detail}. Mend the address, send a test, then resume it; “Send again since” brings what happened meanwhile.`
      case 'operator':
        return `The operator of this service has disabled it${detail}. Only they can enable it.`
    }
  }
  if (!webhook.active) return 'It is switched off: what happens passes it by. Resume it to go on.'
  if (webhook.suspended === true)
    return 'Your account is not premium now: what happens is kept and nothing is sent.'
  if (webhook.paused) return 'What happens is kept, and sent when you resume it.'
  return undefined
}

const outcomeWords: Readonly<Record<Outcome, Words>> = {
  delivered: { label: 'delivered', kind: 'ok' },
  retry: { label: 'failed, tried again later', kind: 'warn' },
  dead: { label: 'given up', kind: 'error' },
  disabled: { label: 'webhook disabled', kind: 'error' },
  cancelled: { label: 'cancelled', kind: '' },
}

/** An example that failed is not tried again. */
export const attemptWords = (attempt: {
  readonly outcome: Outcome
  readonly trigger: string
}): Words =>
  attempt.trigger === 'test' && attempt.outcome === 'retry'
    ? { label: 'failed', kind: 'error' }
    : outcomeWords[attempt.outcome]

export const deliveryWords: Readonly<Record<Delivery['state'], Words>> = {
  ...outcomeWords,
  pending: { label: 'waits for its next attempt', kind: 'warn' },
  in_flight: { label: 'being sent now', kind: 'warn' },
}

const errors: Readonly<Record<string, string>> = {
  status: 'the answer was not 2xx',
  dns: 'the name could not be resolved',
  blocked_address: 'the name leads to an address that is not public',
  connect: 'no connection',
  connect_timeout: 'no connection within 5 seconds',
  tls: 'the certificate or the TLS handshake was not valid',
  timeout: 'no whole answer within 15 seconds',
  protocol: 'the answer was not HTTP',
  closed: 'the connection was closed before the answer',
  secret: 'the secret could not be read on our side',
  url: 'the address is not allowed any more',
  cancelled: 'the webhook was changed or deleted meanwhile',
}

export const errorWords = (error: string): string => errors[error] ?? error

/** Endpoints that fail five times in a row get a pause. */
const breakerFailures = 5

/** @param newest outcomes of the newest attempts, the newest first */
export const isFailing = (newest: readonly Outcome[]): boolean =>
  newest.length >= breakerFailures &&
  newest.slice(0, breakerFailures).every((outcome) => outcome === 'retry' || outcome === 'dead')
