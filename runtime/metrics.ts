import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** The metrics of one process, with Node's own (memory, event loop, collections) in it. */
export function openMetrics(processName: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ process: processName })
  collectDefaultMetrics({ register: registry })
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

/** A gauge that is read whenever somebody looks. */
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
