/** The rows of an export by their batches, each checked by itself: its hash, and what its device signed. */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { toHex } from '../../core/hex.ts'
import { parseIso } from '../../core/iso-time.ts'
import { type Keccak, type LeafFields, leafEncoder } from '../../core/proof/leaf.ts'
import { refuse } from '../../operate/exports/check-run.ts'
import type { ExportManifest } from '../../operate/exports/export-manifest.ts'
import { createSignedFault } from '../../runtime/signed-reading.ts'
import { correctedFault, modelsFault } from './corrected-columns.ts'
import { filterFault } from './export-filter.ts'
import type { ExportedRow } from './row-line.ts'

export type Leaf = {
  readonly hash: Uint8Array
  readonly reading: LeafFields
  readonly signature?: DeviceSignature
}
export type Groups = ReadonlyMap<number, readonly Leaf[]>

/** @throws Refusal */
function timeOf(text: string): number {
  const time = parseIso(text)
  return 'timeMs' in time
    ? time.timeMs
    : refuse(`the period of the rows has "${text}", which is not a time`)
}

/** @throws Refusal */
export async function groupRows(
  rows: AsyncIterable<ExportedRow | string>,
  { version, rows: { from, to, filter = {}, corrections = [] } }: ExportManifest,
  keccak: Keccak,
) {
  const [fromMs, toMs] = [timeOf(from), timeOf(to)]
  const models = modelsFault(corrections)
  if (models !== undefined) refuse(models)
  const leafOf = leafEncoder(keccak)
  const signedFault = createSignedFault(keccak)
  const groups = new Map<number, Leaf[]>()
  const keys = new Set<string>()
  const numbers = new Set<number>()
  let [count, notAnchored, ofLeaf2, signed] = [0, 0, 0, 0]
  for await (const row of rows) {
    count++
    if (typeof row === 'string') return refuse(`row ${count} cannot be read: ${row}`)
    const { reading, hash: said, batch, corrected: _corrected, ...rest } = row
    const refuseRow = (why: string): never => refuse(`row ${count} (${reading.sensor}) ${why}`)
    const is2 = reading.leafVersion === 2
    if (is2 && version !== 2)
      refuseRow('has a leaf of version 2, and an export of version 1 has none')
    if (reading.timeMs < fromMs || reading.timeMs >= toMs)
      refuseRow(`is of another time than the period from ${from} to ${to}`)
    const stray = filterFault(filter, reading) ?? correctedFault(corrections, row)
    if (stray !== undefined) refuseRow(stray)
    // over all runs: another contract may have anchored the number again
    if (numbers.has(reading.seq)) refuseRow(`has the number ${reading.seq}, as another row has`)
    numbers.add(reading.seq)
    const hash = leafOf(reading)
    if (toHex(hash) !== said)
      refuseRow(`was changed: its values${is2 ? ', area and flags' : ''} have another hash`)
    if (is2 && reading.device !== undefined) {
      const fault = await signedFault(reading, rest.signature)
      if (fault !== undefined) refuseRow(`is not signed as it says: ${fault}`)
      signed++
      keys.add(rest.signature?.publicKey ?? '')
    }
    if (batch === null) notAnchored++
    else {
      if (is2) ofLeaf2++
      const group = groups.get(batch)
      if (group === undefined) groups.set(batch, [{ hash, reading, ...rest }])
      else group.push({ hash, reading, ...rest })
    }
  }
  return { groups, keys, notAnchored, count, ofLeaf2, signed }
}
