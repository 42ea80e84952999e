/**
 * Measures what docs/performance.md shows, and writes that page:
 * `node bench/all.ts [--only pipeline,seal] [--runs 3] [--former FOLDER] [--report]`.
 *
 * Each section's bench runs so often, one after the other, for an hour or more in all; nothing else should run on
 * the machine. With `--former`, a checkout of an earlier version with its packages, the same bench runs there in
 * turns with ours. Results are kept in `bench/results/`; the page is made from them, without measuring with `--runs 0`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runTool } from '../runtime/engines/tools.ts'
import { environment } from '../runtime/process/config.ts'
import { missingFigures, performancePage } from './report/page.ts'
import { type Measured, type Run, writeMeasured } from './report/results.ts'
import { type Section, sections } from './report/sections.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: sections.map(({ id }) => id).join(',') },
    runs: { type: 'string', default: '3' },
    former: { type: 'string' },
    report: { type: 'boolean', default: false },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const runCount = Number(flags.runs)
const chosen = flags.only.split(',').map((id) => {
  const section = sections.find((candidate) => candidate.id === id)
  if (section === undefined)
    throw new Error(`no section ${id}: one of ${sections.map((known) => known.id).join(', ')}`)
  return section
})

/** @throws with its last lines if the bench fails or prints no JSON */
async function runOnce(bench: string, args: readonly string[], folder: string): Promise<Run> {
  const load = loadavg()[0] ?? 0
  const child = spawn(process.execPath, [join(folder, 'bench', `${bench}.ts`), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  const printed = await text(child.stdout)
  const code = await closed
  if (code !== 0) throw new Error(`bench ${bench} in ${folder} ended with ${code}`)
  return { load: Math.round(load * 10) / 10, result: JSON.parse(printed) }
}

const commitOf = async (folder: string): Promise<string> =>
  (
    await runTool('git', ['-C', folder, 'rev-parse', 'HEAD'], {
      env: environment(),
      timeoutMs: 20_000,
    })
  ).trim()

async function measure({ id, bench, args, formerArgs, rows }: Section): Promise<Measured> {
  const runs: Run[] = []
  const before: Run[] = []
  const former = formerArgs && flags.former ? { folder: flags.former, args: formerArgs } : undefined
  for (let i = 1; i <= runCount; i++) {
    process.stderr.write(`${id}: run ${i} of ${runCount}\n`)
    runs.push(await runOnce(bench, args, root))
    if (former !== undefined) before.push(await runOnce(bench, former.args, former.folder))
  }
  const measured: Measured = {
    v: 1,
    bench,
    args,
    commit: await commitOf(root),
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 1e9),
      node: process.version,
    },
    runs,
    ...(former === undefined
      ? {}
      : { former: { commit: await commitOf(former.folder), runs: before } }),
  }
  const missing = missingFigures({ rows }, measured)
  if (missing.length > 0)
    process.stderr.write(`${id}: the bench does not print ${missing.join(', ')}\n`)
  return measured
}

if (runCount > 0) for (const section of chosen) writeMeasured(section.id, await measure(section))
const { text: page, pictures } = performancePage()
if (flags.report || runCount === 0) {
  const folder = join(root, 'docs/performance')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, 'docs/performance.md'), page)
  for (const [name, picture] of pictures) writeFileSync(join(folder, name), picture)
} else process.stdout.write(page)
