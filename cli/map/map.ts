import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Box, boxForm, parseBox } from '../../core/map-box.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { readNetworkSettings } from '../../runtime/process/network-settings.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords, subcommand, textFlag, wholeFlag } from '../shell/words.ts'
import { buildMap } from './build-map.ts'
import { checkArchive } from './given-archive.ts'

export const command: Command = {
  summary: 'the map behind the sensors: build it for a city',
  help: `\
usage: airproof map build [--box WEST,SOUTH,EAST,NORTH] [--from FILE] [--detail 13] [--out FILE]
       airproof map build --from CITY.pmtiles [--out FILE]

Writes the one file that the pages draw the ground from. Coast, large waters and names of places
come from open data, fetched once by npm and pip. Roads, small waters and more names come from a
file of yours:

  --from FILE   .geojson, .geojsonl or .geojsonseq with OpenStreetMap's tags; or a .pmtiles with
                vector tiles in the layers of the Protomaps basemap, which is checked and copied
  --box         degrees, at most 5 by 5 (default AIRPROOF_MAP_BOX)
  --detail N    the deepest zoom that is stored, 10 to 15; deeper ones are drawn from it
  --out FILE    by default map.pmtiles in the data folder, where the dashboard looks for it when it
                starts

From an OpenStreetMap extract:
  osmium extract -b 36.6,-1.5,37.2,-1.1 kenya-latest.osm.pbf -o nairobi.osm.pbf
  osmium tags-filter nairobi.osm.pbf w/highway nwr/natural=water n/place -o parts.osm.pbf
  osmium export parts.osm.pbf -f geojsonseq -o nairobi.geojsonseq

examples:
  npx airproof map build --box 36.6,-1.5,37.2,-1.1
  npx airproof map build --box 36.6,-1.5,37.2,-1.1 --from nairobi.geojsonseq
  npx airproof map build --from nairobi.pmtiles`,
  options: {
    box: { type: 'string' },
    from: { type: 'string' },
    detail: { type: 'string' },
    out: { type: 'string' },
  },
  flagsOf: { build: ['box', 'from', 'detail', 'out'] },
  run: async (context) => {
    const [verb, words] = subcommand('map', context.words, { build })
    return await verb({ ...context, words })
  },
}

async function build(context: CommandContext): Promise<number> {
  exactWords(context.words)
  const { flags, print, stop } = context
  const from = textFlag(flags, 'from')
  const out = textFlag(flags, 'out') ?? join(readSharedConfig(context).dataFolder, 'map.pmtiles')
  if (from !== undefined && /\.(?:pbf|osm|o5m|bz2)$/i.test(from))
    throw new WrongUsage(
      `--from: write ${from} as GeoJSON first, for example: osmium export ${from} -f geojsonseq -o city.geojsonseq`,
    )
  if (from?.toLowerCase().endsWith('.pmtiles') === true) return await keepArchive(from, out, print)
  const maxZoom = wholeFlag(flags, 'detail', { min: 10, max: 15 }) ?? 13
  const box = readBox(context)
  const folder = await mkdtemp(join(tmpdir(), 'airproof-map-'))
  try {
    using progress = openProgress({ label: 'map', total: 100, isTerminal: context.isTerminal })
    const { file, counts } = await buildMap({ box, from, maxZoom, folder, stop, at: progress.at })
    await writeWhole(out, async (aside) => await writeFile(aside, file))
    const parts = Object.entries(counts).map(([layer, count]) => `${count} ${layer}`)
    print(`${out}: ${kilobytes(file.length)}, ${parts.join(', ')}`)
    if (counts.roads === 0)
      print('without roads: they come from a file of yours (airproof map build --help)')
    print('the dashboard shows it after its next start')
    return exitCodes.done
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function keepArchive(
  from: string,
  out: string,
  print: (line: string) => void,
): Promise<number> {
  const { box, zooms, bytes, attribution } = await checkArchive(from)
  await writeWhole(out, async (aside) => await copyFile(from, aside))
  print(`${out}: ${kilobytes(bytes)}, ${box.join(',')}, zoom ${zooms.join(' to ')}`)
  if (attribution === '')
    print('it names no source: set AIRPROOF_MAP_ATTRIBUTION to what its licence asks for')
  print('the dashboard shows it after its next start')
  return exitCodes.done
}

/** A file of this name is always whole. */
async function writeWhole(out: string, write: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${out}.part`
  try {
    // before the first start there is no data folder
    await mkdir(dirname(out), { recursive: true, mode: 0o700 })
    await write(aside)
    await rename(aside, out)
  } catch (cause) {
    await rm(aside, { force: true })
    throw new MustAct(
      `${out} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  }
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1000)} kB`

/** A country's map would take hours, and no city is as large. */
const mostDegrees = 5

function readBox(context: CommandContext): Box {
  const text = textFlag(context.flags, 'box')
  const box = text === undefined ? readNetworkSettings(context).box : parseBox(text)
  if (box === undefined) throw new WrongUsage(`--box (or AIRPROOF_MAP_BOX) is needed: ${boxForm}`)
  if (typeof box === 'string') throw new WrongUsage(`--box ${box}`)
  const [west, south, east, north] = box
  if (east - west > mostDegrees || north - south > mostDegrees)
    throw new WrongUsage(
      `--box ${box.join(',')} is larger than ${mostDegrees} by ${mostDegrees} degrees: a city is less than 1 by 1`,
    )
  return box
}
