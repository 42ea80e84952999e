import type { Registry } from 'prom-client'
import { counterIn, gaugeIn } from '../runtime/metrics.ts'

export type GateMetrics = ReturnType<typeof gateMetrics>

/** What an operator watches of the sensors' door. */
export function gateMetrics(registry: Registry) {
  const counter = counterIn(registry)
  return {
    signIns: counter(
      'airproof_gate_sign_ins_total',
      'Sign-ins over NATS and MQTT by verdict: ok, or why not',
      'protocol',
      'verdict',
    ),
    denied: counter(
      'airproof_gate_denied_total',
      'Publishes and subscriptions beyond what is the sensor’s own, as the server tells them',
    ),
    closed: counter(
      'airproof_gate_closed_total',
      'Connections closed, by why: revoked (or its device changed), outlived, flood, too_many',
      'why',
    ),
    failures: counter(
      'airproof_gate_failures_total',
      'What a server did not answer in time, and is asked again',
    ),
    failed: counter(
      'airproof_gate_input_failed_total',
      'Pieces of input whose handling failed, and that were passed over: a fault of ours',
      'loop',
    ),
    gauge: gaugeIn(registry),
  }
}
