/** What can be said of a row without the chain: by the registry, the published rules, and its device. */
import type { FindingKind, Findings } from '../../anchor/audit/findings.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { flagsFault } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import { pm10Of, pm25Of } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { eachAtOnce } from '../../runtime/at-once.ts'
import { createSignedFault } from '../../runtime/signed-reading.ts'
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
    tell: faults.tell,
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
    tell: faults.tell,
  }
}

/** Each signed row is a query of its own to the store. */
const queriesAtOnce = 16

/**
 * Rows that say that their device signed them, and of which the store does not have what was signed:
 * the leaf has only a hash over key and signature.
 */
export function checkSignatures(store: Pick<Store, 'signature'>, keccak: Keccak) {
  const faults = tally('signature')
  const signedFault = createSignedFault(keccak)
  const check = async (row: Reading): Promise<void> => {
    const fault = await signedFault(row, await store.signature(row.sensor, row.timeMs))
    if (fault !== undefined) faults.add(row, fault)
  }
  return {
    see: (rows: readonly Reading[]): Promise<void> => {
      const signed = rows.filter(({ device }) => device !== undefined)
      return eachAtOnce(signed, queriesAtOnce, check)
    },
    tell: faults.tell,
  }
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
    tell: (findings: Findings): void => {
      for (const [words, { rows, firstMs }] of wrong)
        findings.add(
          kind,
          undefined,
          `${rows} rows of ${words}; the first at ${formatIso(firstMs)}`,
        )
    },
  }
}
