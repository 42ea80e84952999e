/**
 * The areas of the network, and the names by which each may be requested: its name, its slug, or
 * the code in its sensors' ids, in any case.
 */
import { slugOf, wholeNetwork } from '../../core/air/area.ts'
import type { Claims } from './area-claims.ts'
import type { Box } from './region.ts'

export type Area = {
  readonly name: string
  /** The AREA part of its sensors' ids; null if another area has more sensors with it. */
  readonly code: string | null
  readonly slug: string
  /** Its name in the store. */
  readonly storedAs: string
  readonly isNetwork: boolean
}

export type AreaDirectory = {
  readonly network: Area
  /** All but the network, by name. */
  readonly areas: readonly Area[]
  readonly find: (text: string) => Area | undefined
  /** Where its sensors are; undefined: it has none. */
  readonly region: Box | undefined
}

type Options = {
  /** The name of the whole network, for example `Lagos`. */
  readonly networkName: string
  /** What every id starts with, `NGR-LOS`: its last part is the network's code. */
  readonly idPrefix: string
}

/** What is known of all sensors that there ever were. */
export type Outline = { readonly claims: Claims; readonly region: Box | undefined }

export function areaDirectory(
  { claims, region }: Outline,
  { networkName, idPrefix }: Options,
): AreaDirectory {
  const network: Area = {
    name: networkName,
    code: idPrefix.split('-').at(-1) ?? null,
    slug: slugOf(networkName),
    storedAs: wholeNetwork,
    isNetwork: true,
  }
  const codes = assignCodes(claims)
  const areas = [...claims.keys()].toSorted().map((name): Area => {
    return {
      name,
      code: codes.get(name) ?? null,
      slug: slugOf(name),
      storedAs: name,
      isNetwork: false,
    }
  })
  const names = new Map<string, Area>()
  // the first to claim a name keeps it: the network, then names, then slugs, then codes
  const claim = (word: string, area: Area): void => {
    if (!names.has(word)) names.set(word, area)
  }
  for (const word of [network.slug, network.code?.toLowerCase() ?? '']) claim(word, network)
  for (const area of areas) claim(area.slug, area)
  for (const area of areas) if (area.code !== null) claim(area.code.toLowerCase(), area)
  return {
    network,
    areas,
    region,
    find: (text) => areas.find(({ name }) => name === text) ?? names.get(slugOf(text)),
  }
}

/**
 * One code per area and one area per code: the area with most sensors that carry it, then by name.
 */
function assignCodes(claims: Claims): ReadonlyMap<string, string> {
  const ranked = [...claims]
    .flatMap(([name, counts]) => [...counts].map(([code, count]) => ({ name, code, count })))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  const codes = new Map<string, string>()
  const taken = new Set<string>()
  for (const { name, code } of ranked) {
    if (codes.has(name) || taken.has(code)) continue
    codes.set(name, code)
    taken.add(code)
  }
  return codes
}
