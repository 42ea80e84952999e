import { randomBytes } from 'node:crypto'
import { formatIso } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import type { SecretBox } from '../../runtime/secrets/seal-secret.ts'
import { secretPrefix } from '../../runtime/webhook-signature.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { unavailable } from '../http/api-error.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
const secretBytes = 32

export const newSecret = (): string =>
  `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`

/**
 * The box, opened when first needed: a process that cannot seal can still answer everything else.
 * @throws ApiError 503 while it cannot be opened
 */
export function openWhenNeeded(open: () => Promise<SecretBox>): () => Promise<SecretBox> {
  let opening: Promise<SecretBox> | undefined
  return async () => {
    opening ??= open()
    try {
      return await opening
    } catch (cause) {
      opening = undefined
      throw unavailable('webhooks_unavailable', 'webhooks cannot be created right now', cause)
    }
  }
}

type Rotation = {
  readonly secret: string
  /** How long the present secret continues to sign; 0: not at all. */
  readonly overlapMs: number
  readonly nowMs: number
}

/**
 * The webhook with a new secret; the previous one also signs for the overlap, older ones no more.
 */
export function rotated(
  webhook: Webhook,
  box: SecretBox,
  { secret, overlapMs, nowMs }: Rotation,
): Webhook {
  const until = formatIso(nowMs + overlapMs)
  const previous = { sealed: webhook.secrets.current, until }
  const current = box.seal(secret, webhook.id)
  return { ...webhook, secrets: overlapMs >= secondMs ? { current, previous } : { current } }
}
