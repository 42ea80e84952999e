import {
  AttemptsAway,
  NoDelivery,
  OwnerAway,
  WebhookDisabled,
} from '../../operate/webhooks/delivery-errors.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import type { WrongField } from '../../schemas/webhooks/webhook-bodies.ts'
import { ApiError, unavailable } from '../http/api-error.ts'

export const mostWebhooks = 20

/** Names every wrong field, and what is valid for each. */
export const invalidBody = (wrong: readonly WrongField[]): ApiError =>
  new ApiError(
    400,
    'invalid_body',
    wrong.map(({ field, expected }) => `${field} must be ${expected}`).join('; '),
    { details: { fields: wrong } },
  )

export const premiumOnly = (tier: string): ApiError =>
  new ApiError(
    403,
    'premium_required',
    'webhooks belong to the premium tier: ask the operator of this service to move your account to it',
    { details: { tier, required: 'premium' } },
  )

/** Another account's webhook looks as if it did not exist. */
export const noWebhook = (id: string): ApiError =>
  new ApiError(404, 'webhook_not_found', 'your account has no webhook of that id', {
    details: { webhook_id: id.slice(0, 100) },
  })

export const tooManyWebhooks = (): ApiError =>
  new ApiError(
    409,
    'too_many_webhooks',
    `an account has at most ${mostWebhooks} webhooks: delete one you no longer need`,
    { details: { limit: mostWebhooks } },
  )

export const keyUsed = (why: string): ApiError =>
  new ApiError(409, 'idempotency_key_used', `${why}: send another Idempotency-Key`)

export const disabledByOperator = (detail: string | undefined): ApiError =>
  new ApiError(
    409,
    'disabled_by_operator',
    'the operator of this service has disabled the webhook: ask them to enable it',
    { details: { detail: detail ?? null } },
  )

export const changing = (): ApiError =>
  unavailable('webhook_busy', 'other requests keep changing the webhook: try again')

/**
 * The request may have been carried out all the same: an idempotency key makes repeating it safe.
 */
export const natsAway = (cause: unknown): ApiError =>
  unavailable('webhooks_unavailable', 'webhooks cannot be read or written right now', cause)

/** Errors thrown below the API, as the caller receives them. */
export function toWebhookError(error: unknown): unknown {
  if (error instanceof OwnerAway)
    return deliveriesAway('the process that delivers does not answer right now', error.cause)
  if (error instanceof AttemptsAway) return deliveriesAway(error.message, error.cause)
  if (error instanceof WebhookDisabled) return new ApiError(409, 'webhook_disabled', error.message)
  // attempts may still be listed: they are stored for longer than most readings
  if (error instanceof NoDelivery)
    return new ApiError(404, 'delivery_not_found', error.message, {
      details: { delivery_id: error.delivery.slice(0, 100) },
    })
  return isServerAway(error) ? natsAway(error) : error
}

const deliveriesAway = (message: string, cause: unknown): ApiError =>
  unavailable('deliveries_unavailable', message, cause)
