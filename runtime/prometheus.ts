/**
 * The parts of prom-client that we use. The package as a whole also loads OpenTelemetry's interface, a
 * client of a gateway and Node's cluster: 45 ms at the start of every process.
 */
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js'
import gc from 'prom-client/lib/metrics/gc.js'
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js'
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js'
import processHandles from 'prom-client/lib/metrics/processHandles.js'
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import processRequests from 'prom-client/lib/metrics/processRequests.js'
import processResources from 'prom-client/lib/metrics/processResources.js'
import processStartTime from 'prom-client/lib/metrics/processStartTime.js'
import version from 'prom-client/lib/metrics/version.js'
import Registry from 'prom-client/lib/registry.js'

export { Counter, Gauge, Histogram, Registry }

/** All of prom-client's default metrics but `processCpuTotal`, which is what needs OpenTelemetry. */
const ofNode = [
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
  eventLoopLag,
  processResources,
  processHandles,
  processRequests,
  heapSizeAndUsed,
  heapSpacesSizeAndUsed,
  version,
  gc,
]

const eventLoopMonitoringPrecision = 10

/** Registers prom-client's default metrics, by the names that dashboards everywhere know. */
export function collectNodeMetrics(registry: Registry): void {
  collectCpuTimes(registry)
  for (const collect of ofNode) collect(registry, { eventLoopMonitoringPrecision })
}

type CpuTime = readonly [
  name: string,
  help: string,
  microseconds: (usage: NodeJS.CpuUsage) => number,
]

const cpuTimes: readonly CpuTime[] = [
  ['process_cpu_user_seconds_total', 'user', ({ user }) => user],
  ['process_cpu_system_seconds_total', 'system', ({ system }) => system],
  ['process_cpu_seconds_total', 'user and system', ({ user, system }) => user + system],
]

function collectCpuTimes(registry: Registry): void {
  for (const [name, kind, microsecondsIn] of cpuTimes)
    new Counter({
      name,
      help: `Total ${kind} CPU time spent in seconds.`,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(microsecondsIn(process.cpuUsage()) / 1e6)
      },
    })
}
