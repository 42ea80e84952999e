import type { PackedKeys, PackedReadings, PackedStats } from './pack.ts'
import type { Fault } from './sqlite-fault.ts'
import type { RollupTable } from './sqlite-schema.ts'
import type { Cursor } from './store.ts'

/** What a worker is asked to do, in what crosses a thread cheaply. */
export type SqliteCalls = {
  readonly writeBatch: (rows: PackedReadings) => void
  readonly existing: (keys: PackedKeys) => PackedReadings
  readonly range: (sensor: string, fromMs: number, toMs: number, limit: number) => PackedReadings
  readonly rangeAll: (
    fromMs: number,
    toMs: number,
    limit: number,
    cursor: Cursor | undefined,
  ) => PackedReadings
  readonly seedLatest: () => PackedReadings
  readonly computeBuckets: (
    area: string,
    fromMs: number,
    toMs: number,
    sizeMs: number,
  ) => PackedStats
  readonly computeOverall: (area: string, fromMs: number, toMs: number) => PackedStats
  readonly rollups: (table: RollupTable, area: string, fromMs: number, toMs: number) => PackedStats
  readonly writeRollups: (table: RollupTable, rows: PackedStats) => void
  readonly ping: () => void
}

export type CallName = keyof SqliteCalls
export type Call = {
  [Name in CallName]: { name: Name; args: Parameters<SqliteCalls[Name]> }
}[CallName]

export type Request = Call & { readonly id: number }
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: ReturnType<SqliteCalls[CallName]> }
  | { readonly id: number; readonly ok: false; readonly fault: Fault }

export type WorkerOptions = { readonly file: string; readonly readOnly: boolean }
