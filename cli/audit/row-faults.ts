/** What can be said of a row without the chain: by the registry, the published rules, and its device. */
import type { FindingKind, Findings } from '../../anchor/audit/findings.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { flagsFault } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { pm10Of, pm25Of } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { futureToleranceMs, minuteMs } from '../../core/time.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { createSignedFault } from '../../runtime/signed-reading.ts'
import { isValidAt, type RegisteredKey } from '../../schemas/devices/registered-sensor.ts'
import { mostKeys } from '../../schemas/devices/sensor.ts'
import type { Store } from '../../store/store.ts'

/** Rows whose area is not that of the place where the registry says that the sensor stood. */
export function checkAreas(areaOf: (reading: Reading) => string | undefined) {
  const names = new Set<string>([wholeNetwork])
  const faults = tally('area')
  let [fromMs, toMs] = [Infinity, -Infinity]
  return {
    see: (rows: readonly Reading[]): void => {
      for (const row of rows) {
        names.add(row.area)
        fromMs = Math.min(fromMs, row.timeMs)
        toMs = Math.max(toMs, row.timeMs)
        const area = areaOf(row)
        if (area === undefined || area === row.area) continue
        const why = row.leafVersion === 2 ? ', which was changed after the area was anchored' : ''
        faults.add(row, `area ${row.area}, and the registry says ${area}${why}`)
      }
    },
    seen: () => ({ names, fromMs, toMs: toMs + 1 }),
    addTo: faults.addTo,
  }
}

/** Rows whose flags or index do not follow from their values. */
export function checkRules() {
  const faults = tally('rules')
  return {
    see: (rows: readonly Reading[]): void => {
      for (const row of rows) {
        const fault = faultOf(row)
        if (fault !== undefined) faults.add(row, fault)
      }
    },
    addTo: faults.addTo,
  }
}

/** Each signed row is a query of its own to the store. */
const queriesAtOnce = 16

/**
 * Rows that say that their device signed them, and of which the store does not have what was signed:
 * the leaf has only a hash over key and signature. Or their key is not one of the sensor at that time.
 */
export function checkSignatures(
  store: Pick<Store, 'signature'>,
  keysOf: (sensor: SensorId) => readonly RegisteredKey[],
  keccak: Keccak,
) {
  const faults = tally('signature')
  const signedFault = createSignedFault(keccak)
  const check = async (row: Reading): Promise<void> => {
    let signature: DeviceSignature | undefined
    try {
      signature = await store.signature(row.sensor, row.timeMs)
    } catch (error) {
      if (!(error instanceof ArchiveUnreadable)) throw error
      return faults.add(row, 'what its device signed is only in the archive, which cannot be read')
    }
    const fault = await signedFault(row, signature)
    if (fault !== undefined) faults.add(row, fault)
    else if (signature !== undefined && !hasKey(keysOf(row.sensor), signature, row.timeMs))
      faults.add(row, 'the key that signed it is not one that the registry has for that time')
  }
  return {
    see: (rows: readonly Reading[]): Promise<void> => {
      const signed = rows.filter(({ device }) => device !== undefined)
      return inParallel(signed, queriesAtOnce, check)
    },
    addTo: faults.addTo,
  }
}

/** A worker that reads the registry may be some seconds late, and the CLI's clock may differ from the broker's. */
const dutyLateMs = minuteMs

/** Rows of a sensor that must sign, which are not signed. What was measured before that began is not meant. */
export function checkUnsigned(sinceOf: (sensor: SensorId) => number | undefined) {
  const faults = tally('signature')
  return {
    see: (rows: readonly Reading[]): void => {
      for (const row of rows) {
        if (row.device !== undefined) continue
        const sinceMs = sinceOf(row.sensor)
        // a row may be some minutes younger than its arrival
        if (sinceMs === undefined || row.timeMs < sinceMs + futureToleranceMs + dutyLateMs) continue
        const since = formatIso(sinceMs)
        faults.add(row, `not signed, and the registry requires a signature since ${since}`)
      }
    },
    addTo: faults.addTo,
  }
}

/** A registry that has as many keys of a sensor as it keeps has forgotten older ones. */
function hasKey(
  keys: readonly RegisteredKey[],
  { algorithm, publicKey }: DeviceSignature,
  timeMs: number,
): boolean {
  if (keys.length >= mostKeys && keys.every(({ fromMs }) => timeMs < fromMs)) return true
  return keys.some(
    (key) => key.algorithm === algorithm && key.publicKey === publicKey && isValidAt(key, timeMs),
  )
}

function faultOf(row: Reading): string | undefined {
  const index = usAqiOf(pm25Of(row.values), pm10Of(row.values))
  return index === row.aqi
    ? flagsFault(row)
    : `the index ${row.aqi ?? 'none'}, where its values give ${index ?? 'none'}`
}

/** More than is listed. */
const mostFaults = 2_000

/** One finding for all rows of a sensor that have the same fault. */
function tally(kind: FindingKind) {
  const wrong = new Map<string, { readonly rows: number; readonly firstMs: number }>()
  return {
    add: ({ sensor, timeMs }: Reading, fault: string): void => {
      const words = `${sensor}: ${fault}`
      const known = wrong.get(words)
      if (known === undefined && wrong.size >= mostFaults) return
      const { rows, firstMs } = known ?? { rows: 0, firstMs: Infinity }
      wrong.set(words, { rows: rows + 1, firstMs: Math.min(firstMs, timeMs) })
    },
    addTo: (findings: Findings): void => {
      for (const [words, { rows, firstMs }] of wrong)
        findings.add(
          kind,
          undefined,
          `${rows} rows of ${words}; the first at ${formatIso(firstMs)}`,
        )
    },
  }
}
