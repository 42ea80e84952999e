/** The texts of the pages that need no account: one chunk in the browser. */
import { charts } from './charts.ts'
import { city } from './city.ts'
import { common } from './common.ts'
import { map } from './map.ts'
import { proof } from './proof.ts'
import { quantities } from './quantities.ts'
import { sensor } from './sensor.ts'

export const catalogue = { common, city, map, charts, sensor, quantities, proof }
export type PublicTexts = typeof catalogue
