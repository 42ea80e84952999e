import { counterIn, gaugeIn } from '../runtime/metrics.ts'
import type { Registry } from '../runtime/prometheus.ts'

export type GateMetrics = ReturnType<typeof gateMetrics>

/** What an operator watches of the sensors' sign-ins and connections. */
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
      'Publishes and subscriptions beyond what is the sensor’s own, as the server reports them',
    ),
    closed: counter(
      'airproof_gate_closed_total',
      'Connections closed, by why: revoked (or its device changed), outlived, flood, too_many',
      'why',
    ),
    failures: counter(
      'airproof_gate_failures_total',
      'Requests that a server did not answer in time, and that are repeated',
    ),
    failed: counter(
      'airproof_gate_input_failed_total',
      'Pieces of input whose handling failed and that were skipped: a fault of airproof',
      'loop',
    ),
    known: (books: {
      readonly credentials: () => number
      readonly sensors: () => number
    }): void => {
      const gauge = gaugeIn(registry)
      gauge('airproof_gate_credentials', 'Credentials known', books.credentials)
      gauge('airproof_gate_sensors', 'Sensors known', books.sensors)
    },
  }
}
