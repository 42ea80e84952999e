/**
 * What docs/performance.md shows, one row per section: which bench is run, and which of its figures are
 * shown. A goal is the one of the issue that asked for it; a figure that misses it is shown like the others.
 */

export type Row = {
  readonly what: string
  /** Where the bench prints it, as `numberAt` reads it. */
  readonly at: string
  readonly unit: string
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number }
  /** Where version 0.1 printed it, if elsewhere. */
  readonly formerAt?: string
}

/** A figure that we measured of another program, once, and do not measure again. */
type Peer = { readonly what: string; readonly value: number; readonly unit: string }

export type Section = {
  /** The name of its results and of its picture. */
  readonly id: string
  readonly title: string
  readonly bench: string
  readonly args: readonly string[]
  /** The arguments of the same bench in version 0.1, if it has that bench. */
  readonly formerArgs?: readonly string[]
  /** How to read it. */
  readonly about: string
  readonly rows: readonly Row[]
  /** Bars of the rows with this unit. */
  readonly chart: { readonly title: string; readonly unit: string }
  readonly peers?: readonly Peer[]
}

const publishToStored: readonly Row[] = [
  {
    what: 'publish to stored, p50',
    at: 'ours.publishToStoreMs.p50',
    formerAt: 'publishToStoreMs.p50',
    unit: 'ms',
    goal: { atMost: 8 },
  },
  {
    what: 'publish to stored, p99',
    at: 'ours.publishToStoreMs.p99',
    formerAt: 'publishToStoreMs.p99',
    unit: 'ms',
    goal: { atMost: 20 },
  },
]

export const sections: readonly Section[] = [
  {
    id: 'pipeline',
    title: 'CPU per reading, at full speed',
    bench: 'pipeline',
    args: ['--readings', '400000'],
    formerArgs: ['--readings', '400000'],
    about:
      'RAW is full, and each program drains it in a process of its own: CPU of all its threads, without its start. The naive program is the textbook one (`bench/pipeline-naive.ts`): a promise, an acknowledgement and a publish per message. The others keep no state, no order and no statistics: they parse, compute an index and write. Each was measured once, quiet, with messages of 150 bytes, beside version 0.1 at 9.4 to 10.1 µs.',
    rows: [
      { what: 'into SQLite', at: 'sqlite.ours.cpuUs', unit: 'µs' },
      {
        what: 'into SQLite, without SQLite’s own',
        at: 'sqlite.oursWithoutStoreUs',
        unit: 'µs',
        goal: { atMost: 4 },
      },
      {
        what: 'into InfluxDB',
        at: 'influx.ours.cpuUs',
        unit: 'µs',
        goal: { atMost: 6 },
      },
      { what: 'the naive program, into SQLite', at: 'sqlite.naive.cpuUs', unit: 'µs' },
      {
        what: 'naive : ours, SQLite',
        at: 'sqlite.cheaperThanNaive',
        unit: 'times',
        goal: { atLeast: 8 },
      },
      { what: 'pull, parse, validate, score, and nothing else', at: 'ceiling.cpuUs', unit: 'µs' },
      { what: 'readings per second, SQLite', at: 'sqlite.ours.perSecond', unit: 'per second' },
      { what: 'memory, SQLite', at: 'sqlite.ours.rssMb', unit: 'MB' },
      { what: 'CPU of a start, SQLite', at: 'sqlite.ours.startCpuMs', unit: 'ms' },
    ],
    chart: { title: 'CPU per reading', unit: 'µs' },
    peers: [
      { what: 'Go, a scanner of its own', value: 1.35, unit: 'µs' },
      { what: 'Go, encoding/json', value: 4.3, unit: 'µs' },
      { what: 'Telegraf with Starlark', value: 19, unit: 'µs' },
      { what: 'Bento', value: 43, unit: 'µs' },
    ],
  },
  {
    id: 'latency-sqlite',
    title: 'Delay at 2,000 readings per second, into SQLite',
    bench: 'latency',
    args: ['--engine', 'sqlite', '--sync', 'always', '--no-stages'],
    formerArgs: ['--engine', 'sqlite'],
    about:
      'From a sensor’s publish to a row that a reader of the store sees, with every write of NATS on the disk before it is acknowledged. The others were measured once, unsynced and into InfluxDB, and keep no state: Bento 15 ms at p50 and 26 at p99, Telegraf 16 and 28, a Go program 6 and 13.',
    rows: [
      ...publishToStored,
      {
        what: 'a single reading on an idle machine, p50',
        at: 'ours.idle.publishToStoreMs.p50',
        unit: 'ms',
        goal: { atMost: 5 },
      },
      { what: 'the naive program, p50', at: 'naive.publishToStoreMs.p50', unit: 'ms' },
      { what: 'the naive program, p99', at: 'naive.publishToStoreMs.p99', unit: 'ms' },
      {
        what: 'pipeline, CPU per reading',
        at: 'ours.pipelineCpuUs',
        formerAt: 'pipelineCpuUs',
        unit: 'µs',
      },
      {
        what: 'NATS, CPU per reading',
        at: 'ours.natsCpuUs',
        formerAt: 'natsCpuUs',
        unit: 'µs',
      },
    ],
    chart: { title: 'From publish to stored', unit: 'ms' },
  },
  {
    id: 'latency-unsynced',
    title: 'The same unsynced, as the others were measured',
    bench: 'latency',
    args: ['--engine', 'sqlite', '--sync', 'default', '--no-stages'],
    about:
      'NATS writes to the disk in the background, as it does by default. The difference to the section before is what syncing costs.',
    rows: [
      ...publishToStored,
      {
        what: 'pipeline, CPU per reading',
        at: 'ours.pipelineCpuUs',
        unit: 'µs',
        goal: { atMost: 60 },
      },
      { what: 'NATS, CPU per reading', at: 'ours.natsCpuUs', unit: 'µs', goal: { atMost: 80 } },
    ],
    chart: { title: 'CPU per reading at 2,000 per second', unit: 'µs' },
    peers: [
      { what: 'Go, program', value: 58, unit: 'µs' },
      { what: 'Go, NATS', value: 79, unit: 'µs' },
      { what: 'Bento, program', value: 94, unit: 'µs' },
      { what: 'Bento, NATS', value: 76, unit: 'µs' },
      { what: 'Telegraf, program', value: 106, unit: 'µs' },
      { what: 'Telegraf, NATS', value: 94, unit: 'µs' },
    ],
  },
  {
    id: 'asked',
    title: 'Questions to a network of a million sensors',
    bench: 'asked',
    args: ['--sensors', '1000000'],
    about:
      'One answer of `/v1`, made without HTTP. *Same*: the page is asked for again and again while readings arrive. *Any*: another place each time, so no text is ready.',
    rows: [
      { what: 'a page of 100, any', at: 'pages.any page.p50Ms', unit: 'ms', goal: { atMost: 5 } },
      {
        what: 'status and a page, any',
        at: 'pages.status=online, any.p50Ms',
        unit: 'ms',
        goal: { atMost: 5 },
      },
      {
        what: 'box of 100, any',
        at: 'pages.bbox of 100, any.p50Ms',
        unit: 'ms',
        goal: { atMost: 5 },
      },
      {
        what: 'nearest 100, any',
        at: 'pages.near, 100 in the radius, any.p50Ms',
        unit: 'ms',
        goal: { atMost: 5 },
      },
      { what: 'all areas', at: 'pages.all areas.p50Ms', unit: 'ms', goal: { atMost: 5 } },
      {
        what: 'latest of 10,000, a page of 1,000, any',
        at: 'pages.latest of an area of 10,000, 1,000 a page, any.p50Ms',
        unit: 'ms',
      },
    ],
    chart: { title: 'One answer, p50', unit: 'ms' },
  },
  {
    id: 'seal',
    title: 'Leaves and roots',
    bench: 'seal',
    args: [],
    formerArgs: [],
    about:
      'What the sealer does with a batch, and with one of a million readings. The naive program is viem and merkletreejs as they come, on the same readings.',
    rows: [
      {
        what: 'leaf and root, version 2',
        at: 'leafAndRootPerCpuSecond.version2.median',
        unit: 'readings per CPU second',
        goal: { atLeast: 250_000 },
      },
      {
        what: 'one by one, as the API makes a leaf',
        at: 'leafAndRootPerCpuSecond.version2OneByOne.median',
        unit: 'readings per CPU second',
      },
      {
        what: 'the naive program',
        at: 'readingsPerCpuSecond.naive',
        unit: 'readings per CPU second',
      },
    ],
    chart: { title: 'Readings to a root', unit: 'readings per CPU second' },
  },
  {
    id: 'push',
    title: 'Readings over HTTP and from gateways',
    bench: 'push',
    args: [],
    formerArgs: [],
    about:
      'One gate, nats-server with every write synced, and the senders share the machine. *Accepted* is what a core of its own would accept, by the CPU time of the gate: each request is answered when its readings are in their streams. A gateway’s body is of 2,000 readings of as many sensors.',
    rows: [
      {
        what: 'gateways over HTTP, accepted',
        at: 'inBulk2000.readingsPerGateCoreSecond',
        unit: 'per core second',
        goal: { atLeast: 100_000 },
      },
      {
        what: 'gateways over NATS, accepted',
        at: 'inBulk2000OverNats.readingsPerGateCoreSecond',
        unit: 'per core second',
        goal: { atLeast: 100_000 },
      },
      {
        what: 'a sensor’s arrays of 20, accepted',
        at: 'inArrays20.readingsPerGateCoreSecond',
        unit: 'per core second',
      },
      {
        what: 'single readings, accepted',
        at: 'oneByOne.readingsPerGateCoreSecond',
        unit: 'per core second',
      },
      {
        what: 'gateways over HTTP, with all on one machine',
        at: 'inBulk2000.readingsPerSecond',
        unit: 'per second',
      },
      {
        what: 'gateways over NATS, with all on one machine',
        at: 'inBulk2000OverNats.readingsPerSecond',
        unit: 'per second',
      },
      {
        what: 'arrays of 20, with all on one machine',
        at: 'inArrays20.readingsPerSecond',
        unit: 'per second',
      },
      {
        what: 'single readings, with all on one machine',
        at: 'oneByOne.readingsPerSecond',
        unit: 'per second',
      },
    ],
    chart: { title: 'Accepted by one core', unit: 'per core second' },
  },
  {
    id: 'nation',
    title: 'A million sensors speaking',
    bench: 'nation',
    args: ['--sensors', '1000000', '--minutes', '6'],
    about:
      'Everything at once on this machine, load included: all processes of `airproof up` on SQLite with its own chain, a reading per minute of each sensor through eight gateways, 100 requests per second of `/v1`, 100 listeners, 1,000 webhooks. *Visible*: from the time of a reading until a listener has it. Delays are the median of all looks of ten seconds, after the first reading of each: it raises an event, which the server syncs like a reading.',
    rows: [
      {
        what: 'import of a million sensors',
        at: 'importSeconds',
        unit: 's',
        goal: { atMost: 300 },
      },
      {
        what: 'the first reading of each stored, its event looked at',
        at: 'firstReadingsSeconds',
        unit: 's',
      },
      { what: 'readings lost', at: 'lost', unit: 'readings', goal: { atMost: 0 } },
      { what: 'visible, p50', at: 'visibleMs.p50', unit: 'ms' },
      { what: 'visible, p99', at: 'visibleMs.p99', unit: 'ms', goal: { atMost: 1_000 } },
      {
        what: 'alert at its receiver, p99',
        at: 'alertMs.p99',
        unit: 'ms',
        goal: { atMost: 2_000 },
      },
      { what: 'alerts sent twice', at: 'alertRepeats', unit: 'alerts', goal: { atMost: 0 } },
      { what: 'answer of the API, p99', at: 'requestMs.p99', unit: 'ms' },
      {
        what: 'memory of all processes, the most',
        at: 'memoryMb.most',
        unit: 'MB',
        goal: { atMost: 6_144 },
      },
    ],
    chart: { title: 'Delays, the median look', unit: 'ms' },
  },
]
