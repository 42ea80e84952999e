/**
 * What the rules of quality remember, at the end of a snapshot of version 2: the column `checks` as it
 * lies, then of `hourFails` only the places that are not 0. A snapshot without them is of a state that
 * was never under rules.
 */
import type { PartitionState } from '../../core/state/partition-state.ts'
import { type ColumnName, layout } from '../../core/state/state-columns.ts'
import { formats, NewerFormat } from '../formats.ts'
import { type ByteReader, bytesOf } from './snapshot-bytes.ts'

export const checkNames = ['checks', 'hourFails'] as const satisfies readonly ColumnName[]

export type ChecksHeader = {
  /** How wide a row of `checks` is. */
  readonly checks: number
  /** How many places of `hourFails` follow. */
  readonly failedHours: number
}

const { width } = layout.checks

export function packChecks(state: PartitionState): {
  readonly header: ChecksHeader
  readonly parts: readonly Uint8Array[]
} {
  const sensors = state.ids.length
  const fails = state.hourFails.subarray(0, sensors * layout.hourFails.width)
  const places: number[] = []
  for (let at = 0; at < fails.length; at++) if (fails[at] !== 0) places.push(at)
  return {
    header: { checks: width, failedHours: places.length },
    parts: [
      bytesOf(state.checks.subarray(0, sensors * width)),
      bytesOf(Uint32Array.from(places)),
      bytesOf(Uint16Array.from(places, (at) => fails[at] ?? 0)),
    ],
  }
}

/** @throws NewerFormat */
export function unpackChecks(
  state: PartitionState,
  reader: ByteReader,
  { checks, failedHours = 0 }: { readonly [Name in keyof ChecksHeader]: number | undefined },
): void {
  if (checks === undefined) return
  if (checks !== width) throw new UnknownChecks(checks)
  reader.take(state.checks.subarray(0, state.ids.length * width))
  const places = reader.take(new Uint32Array(failedHours))
  const fails = reader.take(new Uint16Array(failedHours))
  places.forEach((at, i) => {
    state.hourFails[at] = fails[i] ?? 0
  })
}

/** The version is known, but an airproof with other rules of quality wrote it. */
class UnknownChecks extends NewerFormat {
  constructor(checks: number) {
    super('snapshot', formats.snapshot.newest)
    this.message = `${formats.snapshot.is} remembers ${checks} numbers of each sensor for the rules of quality, and this airproof ${width}: use the airproof that wrote it, or a later one (docs/upgrading.md)`
  }
}
