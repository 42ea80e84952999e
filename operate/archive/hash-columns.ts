import type { Column } from './parquet-table.ts'

/** The sidecar of a file of readings: row for row, 32 bytes that every reader can compute. */
export type HashRow = { readonly seq: number; readonly hash: Uint8Array }

export const hashColumns: readonly Column<HashRow>[] = [
  { name: 'seq', kind: 'count', isNeeded: true, of: ({ seq }) => seq },
  { name: 'hash', kind: 'hash', isNeeded: true, of: ({ hash }) => hash },
]
