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
}

/** A figure that we measured of another program, once, and do not measure again. */
type Peer = { readonly what: string; readonly value: number; readonly unit: string }

export type Section = {
  /** The name of its results and of its picture. */
  readonly id: string
  readonly title: string
  readonly bench: string
  readonly args: readonly string[]
  /** How to read it. */
  readonly about: string
  readonly rows: readonly Row[]
  /** Bars of the rows with this unit. */
  readonly chart: { readonly title: string; readonly unit: string }
  readonly peers?: readonly Peer[]
}

export const sections: readonly Section[] = [
  {
    id: 'pipeline',
    title: 'CPU per reading, at full speed',
    bench: 'pipeline',
    args: ['--readings', '400000'],
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
]
