import { Counter, Gauge, type Registry } from 'prom-client'

export type GateMetrics = ReturnType<typeof gateMetrics>

/** What an operator watches of the sensors' door. */
export function gateMetrics(registry: Registry) {
  const registers = [registry]
  return {
    signIns: new Counter({
      name: 'airproof_gate_sign_ins_total',
      help: 'Sign-ins over NATS and MQTT by verdict: ok, or why not',
      labelNames: ['protocol', 'verdict'],
      registers,
    }),
    gauge: (name: string, help: string, collect: () => number): Gauge =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(collect())
        },
      }),
  }
}
