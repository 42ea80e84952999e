import type { PublicTexts } from '../en/public.ts'
import { charts } from './charts.ts'
import { city } from './city.ts'
import { common } from './common.ts'
import { map } from './map.ts'
import { proof } from './proof.ts'
import { quantities } from './quantities.ts'
import { sensor } from './sensor.ts'
import { spaced } from './spaced.ts'

export const catalogue: PublicTexts = spaced({
  common,
  city,
  map,
  charts,
  sensor,
  quantities,
  proof,
})
