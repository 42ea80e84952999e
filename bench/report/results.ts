/** What was measured, as `bench/results/NAME.json` keeps it, and the figures in it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../results/', import.meta.url))

/** One run of a bench. */
export type Run = {
  /** Load average of one minute when it began. */
  readonly load: number
  /** The JSON document that it printed. */
  readonly result: unknown
}

export type Measured = {
  readonly v: 1
  readonly bench: string
  readonly args: readonly string[]
  readonly commit: string
  readonly date: string
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memoryGb: number
    readonly node: string
  }
  readonly runs: readonly Run[]
  /** The same bench of an earlier version, in turns with `runs`. */
  readonly former?: { readonly commit: string; readonly runs: readonly Run[] }
}

const fileOf = (section: string): string => join(folder, `${section}.json`)

/** @returns undefined if it was never measured  @throws if a later version of this file wrote it */
export function readMeasured(section: string): Measured | undefined {
  const file = fileOf(section)
  if (!existsSync(file)) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written below
  const measured = JSON.parse(readFileSync(file, 'utf8')) as Measured
  if (measured.v !== 1)
    throw new Error(`${file} has version ${String(measured.v)}, and this reads 1: measure again`)
  return measured
}

export function writeMeasured(section: string, measured: Measured): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(section), `${JSON.stringify(measured, undefined, 1)}\n`)
}

/**
 * The number at a path such as `sqlite.ours.cpuUs`, or `starts[process=api,sensors=1000].readyMs`, which
 * takes the first row of a list that has these values. @returns undefined if there is no number there
 */
export function numberAt(result: unknown, path: string): number | undefined {
  let at = result
  for (const [, name = '', conditions] of path.matchAll(/([^.[\]]+)(?:\[([^\]]*)\])?/g)) {
    at = field(at, name)
    if (conditions === undefined || !Array.isArray(at)) continue
    const wanted = conditions.split(',').map((condition) => condition.split('='))
    at = at.find((row: unknown) => wanted.every(([key = '', value]) => text(row, key) === value))
  }
  return typeof at === 'number' ? at : undefined
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any field is unknown
      (value as Readonly<Record<string, unknown>>)[name]
    : undefined

const text = (row: unknown, key: string): string => String(field(row, key))

/** Of several runs. */
export type Spread = { readonly least: number; readonly median: number; readonly most: number }

/** @returns undefined if no run has the figure */
export function spreadOf(runs: readonly Run[], path: string): Spread | undefined {
  const values = runs
    .map(({ result }) => numberAt(result, path))
    .filter((value) => value !== undefined)
    .toSorted((a, b) => a - b)
  const [least, median, most] = [values[0], values[values.length >> 1], values.at(-1)]
  if (least === undefined || median === undefined || most === undefined) return undefined
  return { least, median, most }
}
