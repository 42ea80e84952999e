/** What is cited of a period: the files of the archive that hold it, as a list that has one hash. */
import { createHash } from 'node:crypto'
import type { Catalogue } from '../../operate/archive/catalogue.ts'

export type Period = {
  /** UTC days, `2026-03-01`; both belong to it. */
  readonly from: string
  readonly to: string
  /** Up to that run of the archive: late readings in later ones do not change what was cited. */
  readonly runs: number
}

export type CitedFiles = {
  /** As `sha256sum` writes and checks it, sorted by path. */
  readonly sums: string
  /** Of the list, hex. */
  readonly sha256: string
  readonly files: number
  readonly readings: number
}

/** The files of readings of these days, and the manifests that prove them. */
export function citedFiles({ runs }: Pick<Catalogue, 'runs'>, period: Period): CitedFiles {
  const held = runs
    .filter(({ run }) => run <= period.runs)
    .map(({ manifest, sha256, files }) => ({
      manifest: { path: manifest, sha256 },
      files: files.filter(({ day }) => day >= period.from && day <= period.to),
    }))
    .filter(({ files }) => files.length > 0)
  const files = held.flatMap((run) => run.files)
  const lines = [...held.map(({ manifest }) => manifest), ...files]
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ sha256, path }) => `${sha256}  ${path}\n`)
  const sums = lines.join('')
  return {
    sums,
    sha256: createHash('sha256').update(sums).digest('hex'),
    files: lines.length,
    readings: files.reduce((sum, { rows }) => sum + rows, 0),
  }
}

type Cited = {
  readonly period: Period
  readonly sha256: string
  readonly network: {
    readonly name: string
    readonly attribution: string
    readonly licence: string | null
  }
  readonly link: string
}

export const citationText = ({ period, sha256, network, link }: Cited): string =>
  [
    `${network.attribution}.`,
    `Readings of network ${network.name}, ${period.from} to ${period.to} (UTC), runs 1 to ${period.runs} of its archive.`,
    `SHA-256 ${sha256}.`,
    ...(network.licence === null ? [] : [`Licence ${network.licence}.`]),
    link,
  ].join(' ')
