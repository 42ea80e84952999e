import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { brokenTotals } from './broken.ts'

/** The metrics of one process, including Node's own (memory, event loop, garbage collection). */
export function openMetrics(processName: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ process: processName })
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: 'airproof_broken_messages_total',
    help: 'Messages and entries that cannot be read and were skipped: see `airproof doctor`',
    labelNames: ['stream'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [stream, total] of brokenTotals()) this.inc({ stream }, total)
    },
  })
  return registry
}

type MakeCounter = <Label extends string>(
  name: string,
  help: string,
  ...labelNames: Label[]
) => Counter<Label>

export const counterIn =
  (registry: Registry): MakeCounter =>
  (name, help, ...labelNames) =>
    new Counter({ name, help, labelNames, registers: [registry] })

/** A gauge whose value is read at each scrape. */
export const gaugeIn =
  (registry: Registry) =>
  (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
