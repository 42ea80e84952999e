import type { WrongField } from '../../schemas/webhooks/webhook-bodies.ts'
import type { AskRefusal } from '../../schemas/webhooks/webhook-requests.ts'
import { ApiError, unavailable } from '../http/api-error.ts'

export const mostWebhooks = 20

/** Names every field that is wrong, and what each should be. */
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

/** Whatever is not the caller's looks as if it did not exist. */
export const noWebhook = (id: string): ApiError =>
  new ApiError(404, 'webhook_not_found', 'your account has no webhook of that id', {
    details: { webhook_id: id.slice(0, 100) },
  })

export const noDelivery = (id: string): ApiError =>
  new ApiError(
    404,
    'delivery_not_found',
    'the webhook has no delivery of that id, or not any more',
    {
      details: { delivery_id: id.slice(0, 100) },
    },
  )

/** Its attempts may be listed still: they are kept for longer than most readings. */
const notSentAgain = (key: string): ApiError =>
  new ApiError(
    404,
    'delivery_not_found',
    'it cannot be sent again: what it was about is not kept, or not any more',
    { details: { delivery_id: key.slice(0, 100) } },
  )

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
  unavailable('webhook_busy', 'the webhook is being changed by others all the time')

export const ownerAway = (cause?: unknown): ApiError =>
  unavailable(
    'deliveries_unavailable',
    'the process that delivers cannot be asked right now',
    cause,
  )

/** What was asked for may have been done all the same: an idempotency key makes asking again safe. */
export const natsAway = (cause: unknown): ApiError =>
  unavailable('webhooks_unavailable', 'webhooks cannot be read or written right now', cause)

/** What the owner of a shard refuses, as the caller hears it. */
export function refusedByOwner(code: AskRefusal, message: string, asked: string): ApiError {
  switch (code) {
    case 'unknown_delivery':
      return notSentAgain(asked)
    case 'disabled':
      return new ApiError(409, 'webhook_disabled', 'the webhook is disabled: resume it first')
    case 'unknown_webhook':
    case 'busy':
      return ownerAway(new Error(message))
    case 'bad_request':
      return new ApiError(500, 'internal', 'something went wrong on our side', {
        cause: new Error(message),
      })
  }
}
