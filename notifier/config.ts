import type { RateLimit } from '../core/access/rate-limit.ts'
import { WrongUsage } from '../runtime/exit.ts'
import { readPublicUrl } from '../runtime/public-url.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'
import { defaultSignatureHeader } from '../runtime/webhook-signature.ts'

export type NotifierConfig = {
  /** Allows http, any port and loopback receivers: for demonstrations and tests. */
  readonly allowInsecure: boolean
  /** May carry the operator's brand. */
  readonly signatureHeader: string
  /** Per endpoint. */
  readonly rate: RateLimit
  /** The API's public address, for links to proofs. */
  readonly publicUrl: string
  /** Most deliveries stored individually per endpoint; after that the endpoint is behind. */
  readonly mostWaiting: number
}

/** @throws WrongUsage that names the variable */
export function readNotifierConfig(source: SettingsSource): NotifierConfig {
  const settings = readSettings(source)
  const signatureHeader = settings.text('AIRPROOF_SIGNATURE_HEADER')
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(signatureHeader))
    throw new WrongUsage(
      `AIRPROOF_SIGNATURE_HEADER must be a header name such as ${defaultSignatureHeader}; it is "${signatureHeader}"`,
    )
  const perSecond = settings.int('AIRPROOF_WEBHOOK_RATE')
  return {
    allowInsecure: settings.yes('AIRPROOF_ALLOW_INSECURE_WEBHOOKS'),
    signatureHeader,
    rate: { perSecond, burst: 2 * perSecond },
    publicUrl: readPublicUrl(settings),
    mostWaiting: settings.int('AIRPROOF_WEBHOOK_WAITING'),
  }
}
