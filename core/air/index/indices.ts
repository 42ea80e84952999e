import type { AirIndex } from './air-index.ts'
import { europeanIndex } from './european.ts'
import { naqiPmIndex } from './naqi-pm.ts'
import { ukIndex } from './uk-daqi.ts'
import { usIndex } from './us-epa.ts'

/**
 * The index that each reading receives when it is accepted: stored, hashed and alerted on. Its
 * statistics are stored; those of the others are computed from the concentrations'.
 */
export const storedIndex: AirIndex = usIndex

/** Every index that `?index=` may name, the default first. A new one is one file and its line here. */
export const airIndices: readonly AirIndex[] = [storedIndex, europeanIndex, ukIndex, naqiPmIndex]
