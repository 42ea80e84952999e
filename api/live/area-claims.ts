/** How many sensors of each area carry which code, and where all of them are: kept as sensors come and go. */
import { areaCodeOf } from '../../core/air/sensor-id.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { type Box, type Site, withSites } from './region.ts'

type Sited = Pick<RegisteredSensor, 'id' | 'sites'>

/** By area, by code. An area that all have left is still known. */
export type Claims = ReadonlyMap<string, ReadonlyMap<string, number>>

export class AreaClaims {
  readonly #counts = new Map<string, Map<string, number>>()
  #region: Box | undefined
  #isWhole = true

  get counts(): Claims {
    return this.#counts
  }

  add(sensor: Sited): void {
    this.#count(sensor, 1)
    this.#region = withSites(this.#region, sensor.sites)
  }

  /** @param sensor that was added */
  remove(sensor: Sited): void {
    this.#count(sensor, -1)
    const { west, east, south, north } = this.#region ?? {}
    if (
      sensor.sites.some(
        ({ lat, lon }) => lat === south || lat === north || lon === west || lon === east,
      )
    )
      this.#isWhole = false
  }

  /** The smallest box around all sites. @param sitesOf of all sensors: read if one of the border is gone */
  region(allSites: () => Iterable<readonly Site[]>): Box | undefined {
    if (!this.#isWhole) {
      this.#region = undefined
      for (const sites of allSites()) this.#region = withSites(this.#region, sites)
      this.#isWhole = true
    }
    return this.#region
  }

  #count({ id, sites }: Sited, by: number): void {
    const code = areaCodeOf(id)
    for (const [at, { area }] of sites.entries())
      if (sites.findIndex((site) => site.area === area) === at) this.#countOne(area, code, by)
  }

  #countOne(area: string, code: string, by: number): void {
    let counts = this.#counts.get(area)
    if (counts === undefined) this.#counts.set(area, (counts = new Map()))
    const count = (counts.get(code) ?? 0) + by
    if (count !== 0) counts.set(code, count)
    else if (counts.delete(code) && counts.size === 0) this.#counts.delete(area)
  }
}
