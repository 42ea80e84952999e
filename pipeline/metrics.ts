import type { LogMessage, Refused } from '../core/state/log-message.ts'
import { gaugeIn } from '../runtime/metrics.ts'
import { Counter, type Registry } from '../runtime/prometheus.ts'

export type PipelineMetrics = ReturnType<typeof pipelineMetrics>

/** What an operator watches of a pipeline process. */
export function pipelineMetrics(registry: Registry) {
  const registers = [registry]
  const readings = new Counter({
    name: 'airproof_readings_total',
    help: 'Readings judged, by outcome: accepted, duplicate, partial, or the reason of refusal',
    labelNames: ['outcome'],
    registers,
  })
  const commits = new Counter({
    name: 'airproof_commits_total',
    help: 'Messages committed to the log',
    registers,
  })
  const events = new Counter({
    name: 'airproof_events_total',
    help: 'Events committed, by kind',
    labelNames: ['kind'],
    registers,
  })
  const notKept = new Counter({
    name: 'airproof_rejected_not_kept_total',
    help: 'Refused items that were counted and not kept: their sensor was refused too often',
    registers,
  })
  return {
    natsRetries: new Counter({
      name: 'airproof_nats_retries_total',
      help: 'Publishes that were tried again',
      registers,
    }),
    rawLost: new Counter({
      name: 'airproof_raw_lost_total',
      help: 'Partitions whose RAW stream had lost its tail: a person should look',
      registers,
    }),
    notKept,
    storms: new Counter({
      name: 'airproof_storms_total',
      help: 'Times that most sensors fell silent at once: a person should look',
      registers,
    }),
    storeRows: new Counter({
      name: 'airproof_store_rows_total',
      help: 'Rows written to the store',
      registers,
    }),
    storeRefused: new Counter({
      name: 'airproof_store_refused_total',
      help: 'Rows the store will never take: a person should look',
      registers,
    }),
    storeFailures: new Counter({
      name: 'airproof_store_failures_total',
      help: 'Writes that failed and were tried again',
      registers,
    }),
    clockBehind: (isBehind: () => boolean): void =>
      gaugeIn(registry)(
        'airproof_broker_clock_behind',
        '1: more than nine of ten readings of the last minute were refused as future: a person should look',
        () => Number(isBehind()),
      ),
    /** Refused, and beyond what is listed of its sensor. */
    notListed: (reason: Refused['reason']): void => {
      readings.inc({ outcome: reason })
      notKept.inc()
    },
    count: (message: LogMessage): void => {
      commits.inc()
      if (message.readings.length > 0)
        readings.inc({ outcome: 'accepted' }, message.readings.length)
      for (const [, count] of message.duplicates) readings.inc({ outcome: 'duplicate' }, count)
      for (const { reason } of message.refused) readings.inc({ outcome: reason })
      for (const { kind } of message.events) events.inc({ kind })
    },
  }
}
