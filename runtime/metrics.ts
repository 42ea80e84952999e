import { collectDefaultMetrics, Registry } from 'prom-client'

/** The metrics of one process, with Node's own (memory, event loop, collections) in it. */
export function openMetrics(processName: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ process: processName })
  collectDefaultMetrics({ register: registry })
  return registry
}
