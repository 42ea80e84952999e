/**
 * The hour rings of a snapshot. Most are not full, so only the hours with readings travel: a mask
 * of the ring's places a sensor, then the sums and the counts of those places.
 */
import type { PartitionState } from '../../core/state/partition-state.ts'
import { type ColumnName, hourRing, layout } from '../../core/state/state-columns.ts'
import { type ByteReader, bytesOf } from './snapshot-bytes.ts'

export const hourNames = ['hourSums', 'hourCounts'] as const satisfies readonly ColumnName[]

export function packHours(state: PartitionState): Uint8Array[] {
  const { hourCounts } = state
  const masks = new Uint32Array(state.ids.length)
  const places = new Uint32Array(masks.length * hourRing)
  let packed = 0
  for (let slot = 0, at = 0; slot < masks.length; slot++) {
    let mask = 0
    for (let bit = 0; bit < hourRing; bit++, at += 2) {
      if (hourCounts[at] === 0 && hourCounts[at + 1] === 0) continue
      mask |= 1 << bit
      places[packed++] = at
    }
    masks[slot] = mask
  }
  return [
    bytesOf(masks),
    ...hourNames.map((name) => {
      const column = state[name]
      const values = new layout[name].of(2 * packed)
      for (let i = 0; i < packed; i++) {
        const at = places[i] ?? 0
        values[2 * i] = column[at] ?? 0
        values[2 * i + 1] = column[at + 1] ?? 0
      }
      return bytesOf(values)
    }),
  ]
}

export function unpackHours(state: PartitionState, reader: ByteReader): void {
  const masks = reader.take(new Uint32Array(state.ids.length))
  const places: number[] = []
  masks.forEach((mask, slot) => {
    for (let bit = 0; bit < hourRing; bit++) {
      if ((mask >>> bit) & 1) places.push(2 * (slot * hourRing + bit))
    }
  })
  for (const name of hourNames) {
    const values = reader.take(new layout[name].of(2 * places.length))
    const column = state[name]
    places.forEach((at, i) => {
      column[at] = values[2 * i] ?? 0
      column[at + 1] = values[2 * i + 1] ?? 0
    })
  }
}
