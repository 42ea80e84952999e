/** Acts on how endpoints behave: disables webhooks, mails owners, counts. */
import type { KV } from '@nats-io/kv'
import { keyText } from '../../core/delivery/delivery.ts'
import { webhookIdOf } from '../../core/delivery/webhook-id.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import type { NotifierMetrics } from '../metrics.ts'
import type { DelivererContext } from '../send/deliverer.ts'
import { disableWebhook } from './disable.ts'
import { disabledMail, failingMail } from './mails.ts'
import type { SendOwnerMail } from './owner-mails.ts'

type Options = {
  readonly webhooks: KV
  readonly sendMail: SendOwnerMail
  readonly metrics: NotifierMetrics
  readonly logger: Logger
}

export const reportEndpoints = ({
  webhooks,
  sendMail,
  metrics,
  logger,
}: Options): Pick<DelivererContext, 'onDisable' | 'onBroken' | 'onWarning'> => ({
  onDisable: ({ webhook }, { reason, detail, health }) => {
    const atMs = Date.now()
    const notify = (current: Webhook): Promise<void> =>
      sendMail(disabledMail(current, { reason, detail, atMs, health }))
    void disableWebhook(webhooks, webhook.id, { reason, detail, atMs, notify }).then(
      (isOurs) => {
        if (!isOurs) return
        metrics.disabled.inc({ reason })
        logger.warn({ webhook: webhook.id, reason, detail }, 'webhook disabled')
      },
      (error: unknown) => logger.warn({ err: error, webhook: webhook.id }, 'not disabled yet'),
    )
  },
  onBroken: (delivery, error) => {
    metrics.errors.inc({ reason: 'internal' })
    logger.error(
      { err: error, webhook: webhookIdOf(delivery.webhook), delivery: keyText(delivery) },
      'a delivery could not be made, and is tried again later',
    )
  },
  onWarning: ({ webhook }, health) => {
    metrics.warnings.inc()
    const { failures, firstFailureMs } = health
    logger.warn(
      { webhook: webhook.id, account: webhook.account, failures, firstFailureMs },
      'an endpoint keeps failing: its owner gets a mail',
    )
    void sendMail(failingMail(webhook, health))
  },
})
