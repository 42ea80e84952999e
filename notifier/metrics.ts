import { counterIn, gaugeIn } from '../runtime/metrics.ts'
import { Histogram, type Registry } from '../runtime/prometheus.ts'

export type NotifierMetrics = ReturnType<typeof notifierMetrics>

/**
 * What an operator watches of a notifier process. The age of the oldest due delivery is the alarm.
 */
export function notifierMetrics(registry: Registry) {
  const registers = [registry]
  const counter = counterIn(registry)
  return {
    attempts: counter(
      'airproof_webhook_attempts_total',
      'Attempts by their outcome: delivered, retry, dead, disabled, cancelled',
      'outcome',
    ),
    errors: counter('airproof_webhook_errors_total', 'Attempts that failed, by reason', 'reason'),
    created: counter(
      'airproof_webhook_deliveries_total',
      'Deliveries created, by kind of event',
      'event',
    ),
    gone: counter(
      'airproof_webhook_events_gone_total',
      'Deliveries given up because their event is in no stream any more',
    ),
    behind: counter(
      'airproof_webhook_behind_total',
      'Times that an endpoint reached its limit of waiting deliveries',
    ),
    disabled: counter('airproof_webhook_disabled_total', 'Webhooks disabled, by reason', 'reason'),
    warnings: counter(
      'airproof_webhook_warnings_total',
      'Warnings to owners that their endpoint keeps failing',
    ),
    natsRetries: counter('airproof_nats_retries_total', 'Publishes that were tried again'),
    latency: new Histogram({
      name: 'airproof_webhook_first_attempt_seconds',
      help: 'From storing an event to the end of its first attempt, if that succeeded',
      buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60],
      registers,
    }),
    age: new Histogram({
      name: 'airproof_webhook_delivery_age_seconds',
      help: 'From the time that an event names to the end of its delivery, by how that ended: delivered or dead',
      labelNames: ['outcome'],
      buckets: [1, 5, 30, 60, 300, 1_800, 3_600, 21_600, 86_400, 259_200],
      registers,
    }),
    commit: new Histogram({
      name: 'airproof_webhook_commit_seconds',
      help: 'How long a message of the ledger takes until it is durable',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
    gauge: gaugeIn(registry),
  }
}
