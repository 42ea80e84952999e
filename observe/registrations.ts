/** What each process registers, by the very functions with which it does, on a registry of ours. */

import { anchorMetrics } from '../anchor/metrics.ts'
import { countRequests as countOfApi } from '../api/api-metrics.ts'
import { countMismatches } from '../api/proofs/proven-reading.ts'
import { archiveMetrics } from '../archive/metrics.ts'
import { countMails, countRequests as countOfDashboard } from '../dashboard/server/metrics.ts'
import { gateMetrics } from '../gate/metrics.ts'
import { pushMetrics } from '../gate/push/push-metrics.ts'
import { topicMetrics } from '../gate/topics/open-topics.ts'
import { openGauges as openNotifierGauges } from '../notifier/gauges.ts'
import { notifierMetrics } from '../notifier/metrics.ts'
import { openGauges as openPipelineGauges } from '../pipeline/gauges.ts'
import { pipelineMetrics } from '../pipeline/metrics.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { countDropped } from '../runtime/nats/mail-queue.ts'
import type { Registry } from '../runtime/prometheus.ts'

const none = (): number => 0

/** In the order of their admin ports. `test/stack/metrics.test.ts` compares them with real processes. */
const registrations: Readonly<Record<string, (registry: Registry) => void>> = {
  pipeline: (registry) => {
    pipelineMetrics(registry).clockBehind(() => false)
    openPipelineGauges(registry, {
      partitions: { positions: () => [] },
      writer: { waitingRows: none, position: none },
      behind: () => [],
      nowMs: none,
    })
  },
  anchor: (registry) => void anchorMetrics(registry, none),
  notifier: (registry) => {
    const limits = { inFlight: none }
    openNotifierGauges(notifierMetrics(registry), {
      shards: () => [],
      limits,
      book: { size: none },
    })
    countDropped(registry)
  },
  gate: (registry) => {
    gateMetrics(registry).known({ credentials: none, sensors: none })
    topicMetrics(registry)
    pushMetrics(registry, { spools: [], nowMs: none })
  },
  api: (registry) => {
    const sensors = () => ({ unheard: 0, online: 0, held: 0, offline: 0 })
    countOfApi({ registry, position: none, staleMs: none, streams: none, sensors })
    countMismatches({ registry, index: { faults: none }, log: { error: () => undefined } })
    countDropped(registry)
  },
  dashboard: (registry) => {
    countOfDashboard(registry)
    countMails(registry)
    countDropped(registry)
  },
  archive: (registry) => void archiveMetrics(registry),
}

export type Registered = {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
  /** Those that have it. */
  readonly processes: readonly string[]
}

/** Every metric of ours, in the order of names; Node's own are left out. */
export function registered(): readonly Registered[] {
  const metrics = new Map<string, Registered>()
  for (const [process, register] of Object.entries(registrations)) {
    const registry = openMetrics(process)
    register(registry)
    for (const metric of registry.getMetricsAsArray()) {
      const { name, help, type, labels } = detailsOf(metric)
      if (!name.startsWith('airproof_')) continue
      const processes = [...(metrics.get(name)?.processes ?? []), process]
      metrics.set(name, { name, help, type, labels, processes })
    }
  }
  return [...metrics.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export const processNames: readonly string[] = Object.keys(registrations)

/** prom-client's own fields: its types leave out two of them. */
function detailsOf(metric: object): Omit<Registered, 'processes'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { name, help, type, labelNames } = metric as {
    readonly name: string
    readonly help: string
    readonly type: string
    readonly labelNames: readonly string[]
  }
  const labels = labelNames.filter((label) => label !== 'le')
  return { name, help, type, labels }
}
