/**
 * A real archive through the whole service, at full speed, and every row of it accounted for:
 * `node bench/archives.ts --format sensors-africa --store influx --again FILES…` prints one JSON
 * document and ends with 1 where a stored row or an answer of /v1 is not what a plain
 * recomputation from the files gives.
 *
 * - `--store` sqlite (default) or influx: a server of its own, as `airproof up` starts everything else
 * - `--batch N` readings of a sensor in one message (default 1). The server syncs each message to its
 *   disk, so one by one the rate is that of the disk; with arrays it is that of the pipeline.
 * - `--again` sends everything a second time: all duplicates, nothing changed
 * - `--code`, `--area` as for the commands; `--sensors FILE` a list for archives without places
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plainFormats } from './archives/plain-archive.ts'
import { replayAndCheck } from './archives/replay-and-check.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    format: { type: 'string', default: 'sensors-africa' },
    store: { type: 'string', default: 'sqlite' },
    batch: { type: 'string', default: '1' },
    again: { type: 'boolean', default: false },
    code: { type: 'string', default: 'ARC' },
    area: { type: 'string', default: 'Archive' },
    sensors: { type: 'string' },
  },
})

const format = plainFormats.find((name) => name === flags.format)
const store = (['sqlite', 'influx'] as const).find((name) => name === flags.store)
if (format === undefined || store === undefined || positionals.length === 0) {
  console.error(
    `usage: node bench/archives.ts --format ${plainFormats.join('|')} --store sqlite|influx [--batch N] [--again] FILES…`,
  )
  process.exit(2)
}

const filesIn = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.(csv|ndjson)$/.test(name))
        .map((name) => join(path, name))
    : [path]

const report = await replayAndCheck({
  archives: [
    {
      format,
      files: positionals.flatMap(filesIn),
      code: flags.code,
      area: flags.area,
      ...(flags.sensors !== undefined && { sensorsFile: flags.sensors }),
    },
  ],
  store,
  batch: Number(flags.batch),
  again: flags.again,
  note: (line) => process.stderr.write(`${line}\n`),
})
console.log(JSON.stringify(report, null, 2))
process.exitCode = report.mismatches === 0 ? 0 : 1
