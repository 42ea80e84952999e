import { type UsCategory, usCategoryOf } from '../../../../core/air/index/us-bands.ts'
import { texts } from '../../texts.ts'

/** Its usual name. */
export const categoryWords: Readonly<Record<UsCategory, string>> = texts.common.categories

/** null stays null. */
export const categoryAt = (aqi: number | null | undefined): UsCategory | null =>
  aqi === null || aqi === undefined ? null : usCategoryOf(aqi)

/**
 * A shape per category, in a box of 16 by 16, so that colour is not its only mark: more
 * corners, worse air.
 */
export const categoryShapes: Readonly<Record<UsCategory, string>> = {
  good: 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13Z',
  moderate: 'M2.5 2.5h11v11h-11Z',
  unhealthy_sensitive: 'M8 1 15 14.5H1Z',
  unhealthy: 'M8 .8 15.2 8 8 15.2.8 8Z',
  very_unhealthy: 'M4.5 1h7l3.7 6.9-3.7 7.1h-7L.8 7.9Z',
  hazardous: 'M8 .5l2 5 5.3.3-4.1 3.4 1.4 5.3L8 11.6l-4.6 2.9 1.4-5.3L.7 5.8 6 5.500Z',
}
