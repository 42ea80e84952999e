/** The name under which the statistics of the whole network are stored; no area may have it. */
export const wholeNetwork = '_all'

const longestArea = 256

/**
 * Why `area` cannot name an area in both stores, or undefined. Any printable text may, with two
 * exceptions: a backslash, which InfluxDB's line protocol cannot carry safely before a comma, space
 * or '=', and the name of the whole network.
 */
export function areaFault(area: string): string | undefined {
  if (area === wholeNetwork)
    return `area ${wholeNetwork} is not for readings: it is the whole network`
  // spelt out for names that are pure ASCII letters, which is nearly all of them
  if (area.length <= longestArea && /^[A-Za-z0-9 _-]+$/.test(area)) return undefined
  if (area === '' || area.length > longestArea) return `area is not 1 to ${longestArea} long`
  if (!area.isWellFormed()) return 'area is not well-formed text'
  if (/[\p{Cc}\\]/u.test(area)) return 'area holds a backslash or a control character'
  return undefined
}

/**
 * An area's name as a key: `Ìkẹjà GRA` and `ikeja-gra` are the same area. Lower case, accents
 * folded, each run of anything but letters and digits (of any script) one hyphen; '' if none is left.
 */
export const slugOf = (areaName: string): string =>
  areaName
    .normalize('NFKD')
    .toLowerCase()
    .replace(accents, '')
    .replace(separators, '-')
    .replace(outerHyphens, '')
    .normalize('NFC')

// the accents of Latin, Greek and Cyrillic; in other scripts, marks belong to the letters
const accents = /[\u0300-\u036f]/g
const separators = /[^\p{L}\p{N}\p{M}]+/gu
const outerHyphens = /^-|-$/g
