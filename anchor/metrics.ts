import type { BatchHeader } from '../core/proof/header.ts'
import { secondMs } from '../core/time.ts'
import { gaugeIn } from '../runtime/metrics.ts'
import { Counter, Gauge, type Registry } from '../runtime/prometheus.ts'
import { type Alarm, alarmReasons } from './send/alarm.ts'
import type { TickReport } from './send/sender.ts'

export type AnchorMetrics = ReturnType<typeof anchorMetrics>

/** What an operator watches of the anchor process. */
export function anchorMetrics(registry: Registry, nowMs: () => number) {
  const registers = [registry]
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers })
  const alarms = new Gauge({
    name: 'airproof_anchor_alarm',
    help: '1 while a person should look at the anchors for this reason',
    labelNames: ['reason'],
    registers,
  })
  const onChain = gauge('airproof_anchor_mined_batch', 'Index of the last batch in a block')
  const final = gauge('airproof_anchor_final_batch', 'Index of the last batch that is final')
  const finalized = gauge('airproof_anchor_finalized_block', 'Number of the finalized block')
  for (const reason of alarmReasons) alarms.set({ reason }, 0)
  const sealed = gauge('airproof_anchor_sealed_batch', 'Index of the last sealed batch')
  const sealedAtS = gauge(
    'airproof_anchor_sealed_timestamp_seconds',
    'When the last batch was sealed',
  )
  const sealedReadings = new Counter({
    name: 'airproof_anchor_sealed_readings_total',
    help: 'Readings sealed by this process',
    registers,
  })
  let oldestMs: number | undefined
  gaugeIn(registry)(
    'airproof_anchor_oldest_seconds',
    'Age of the oldest accepted reading that is in no final batch, by the process that anchors; 0: there is none',
    () => (oldestMs === undefined ? 0 : Math.max(0, nowMs() - oldestMs) / secondMs),
  )
  return {
    /** @param acceptedMs when the oldest such reading was accepted; undefined: there is none */
    showOldest: (acceptedMs: number | undefined): void => {
      oldestMs = acceptedMs
    },
    keptFrom: gauge('airproof_readings_first_sequence', 'Oldest message of the log that is kept'),
    showSealed: (header: BatchHeader): void => {
      sealed.set(header.index)
      sealedAtS.set(header.sealedMs / secondMs)
      sealedReadings.inc(header.count)
    },
    show: (report: TickReport): void => {
      onChain.set(report.onChain)
      final.set(report.final)
      finalized.set(report.finalized.number)
    },
    alarm: (raised: readonly Alarm[]): void => {
      for (const reason of alarmReasons)
        alarms.set({ reason }, raised.some((alarm) => alarm.reason === reason) ? 1 : 0)
    },
  }
}
