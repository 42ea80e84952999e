import { secondMs } from '../core/time.ts'
import { brokenTotals } from './broken.ts'
import { Counter, collectNodeMetrics, Gauge, Histogram, Registry } from './prometheus.ts'
import { ourCommit, ourVersion } from './version.ts'

/** The metrics of one process, including Node's own (memory, event loop, garbage collection). */
export function openMetrics(processName: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ process: processName })
  collectNodeMetrics(registry)
  new Gauge({
    name: 'airproof_build_info',
    help: 'Always 1: which version runs, and which commit where that is known',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: ourVersion(), commit: ourCommit() ?? 'unknown' }, 1)
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

/** Around the promise of 500 ms at the 99th percentile, and up to the 15 s after which an answer is 503. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/**
 * How long requests take, by a pattern of which there are few: never by a path or by what a client
 * chose.
 */
export function requestTimes<Label extends string>(
  registry: Registry,
  name: `airproof_${string}_request_seconds`,
  label: Label,
): (pattern: string, ms: number) => void {
  const times = new Histogram<Label>({
    name,
    help: `From the head of a request to its answer being on the way, by ${label}`,
    labelNames: [label],
    buckets: requestBuckets,
    registers: [registry],
  })
  const byPattern = new Map<string, { readonly observe: (seconds: number) => void }>()
  return (pattern, ms) => {
    let child = byPattern.get(pattern)
    if (child === undefined) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a record of the one label
      child = times.labels({ [label]: pattern } as Record<Label, string>)
      byPattern.set(pattern, child)
    }
    child.observe(ms / secondMs)
  }
}
