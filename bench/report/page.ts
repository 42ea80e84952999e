/** docs/performance.md and its pictures, from what was measured. */
import { type Bar, barChart, inDigits } from './chart.ts'
import {
  type Measured,
  numberAt,
  type Run,
  readMeasured,
  type Spread,
  spreadOf,
} from './results.ts'
import { type Row, type Section, sections } from './sections.ts'

type Page = {
  readonly text: string
  /** By the name of the file, without its folder. */
  readonly pictures: ReadonlyMap<string, string>
}

const head = `# Performance

What each part costs, beside its goal, version 0.1 and other programs. \`npm run bench -- all\` measures it, and
\`npm run bench -- all --runs 0\` makes this page from what is kept in \`bench/results/\`: it is not written by hand.

How to read it: CPU time is what to trust, and ratios of one run. Times and rates depend on what else the machine does, so each
section says the load average at which each run began. A cell is the median of the runs, and the least and most in brackets. A missed goal is
in bold. 0.1 is commit 4429ff7, measured in turns with ours.
`

/** @param measured of a section; undefined if there is none */
export function performancePage(
  measured: (section: string) => Measured | undefined = readMeasured,
): Page {
  const pictures = new Map<string, string>()
  const parts = sections.map((section) => {
    const results = measured(section.id)
    if (results === undefined) return `## ${section.title}\n\nNot measured yet.\n`
    pictures.set(`${section.id}.svg`, pictureOf(section, results))
    return textOf(section, results)
  })
  return { text: [head, ...parts].join('\n'), pictures }
}

function textOf(section: Section, measured: Measured): string {
  const { title, about, rows, bench, args, peers = [] } = section
  const { runs, former, machine, commit, date } = measured
  const columns = ['', 'ours', 'goal', ...(former === undefined ? [] : ['0.1'])]
  const lines = [
    ...rows.map((row) => cellsOf(row, measured)),
    ...peers.map(({ what, value, unit }) => [what, `${inDigits(value)} ${unit}`, '']),
  ]
  const command = ['npm run bench --', bench, ...args].join(' ')
  const loads = runs.map(({ load }) => inDigits(load)).join(', ')
  return `## ${title}

${about}

${tableOf(columns, lines)}

![${title}](performance/${section.id}.svg)

\`${command}\`, ${count(runs)} at load ${loads}, on ${date} with ${commit.slice(0, 8)}, Node ${machine.node}, ${machine.cores} cores
(${machine.cpu}), ${machine.memoryGb} GB.
`
}

const count = ({ length }: readonly Run[]): string => (length === 1 ? 'one run' : `${length} runs`)

function cellsOf(row: Row, { runs, former }: Measured): readonly string[] {
  const spread = spreadOf(runs, row.at)
  const cell = spread === undefined ? 'not measured' : cellOf(spread, row.unit)
  const shown = spread !== undefined && misses(row, spread) ? `**${cell}**` : cell
  const cells = [row.what, shown, goalOf(row)]
  if (former === undefined) return cells
  const before = spreadOf(former.runs, formerAt(row))
  return [...cells, before === undefined ? '' : cellOf(before, row.unit)]
}

const cellOf = ({ least, median, most }: Spread, unit: string): string =>
  least === most
    ? `${inDigits(median)} ${unit}`
    : `${inDigits(median)} ${unit} (${inDigits(least)} to ${inDigits(most)})`

const formerAt = ({ at, formerAt: other = at }: Row): string => other

const misses = ({ goal }: Row, { median }: Spread): boolean =>
  goal !== undefined && ('atMost' in goal ? median > goal.atMost : median < goal.atLeast)

function goalOf({ goal, unit }: Row): string {
  if (goal === undefined) return ''
  return 'atMost' in goal
    ? `at most ${inDigits(goal.atMost)} ${unit}`
    : `at least ${inDigits(goal.atLeast)} ${unit}`
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${columns.map((_, i) => cells[i] ?? '').join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Ours, 0.1's and others' figures of one unit; a goal only where all bars have the same. */
function pictureOf({ chart, rows, peers = [] }: Section, { runs, former }: Measured): string {
  const shown = rows.filter(({ unit }) => unit === chart.unit)
  const bars: Bar[] = shown.flatMap((row) => {
    const { what, at } = row
    const ours = spreadOf(runs, at)
    const before = former && spreadOf(former.runs, formerAt(row))
    return [
      ...(ours === undefined ? [] : [{ label: what, value: ours.median, isOurs: true }]),
      ...(before === undefined
        ? []
        : [{ label: `${what}, 0.1`, value: before.median, isOurs: false }]),
    ]
  })
  const others = peers
    .filter(({ unit }) => unit === chart.unit)
    .map(({ what, value }) => ({ label: what, value, isOurs: false }))
  const goals = shown.map(({ goal }) => goal && Object.values(goal)[0])
  const [goal] = goals
  const isOneGoal = goals.every((other) => other === goal)
  return barChart(chart.title, chart.unit, [...bars, ...others], isOneGoal ? goal : undefined)
}

/** Figures that a section names and no run has: the bench prints something else now. */
export const missingFigures = (
  { rows }: Pick<Section, 'rows'>,
  { runs }: Measured,
): readonly string[] =>
  rows
    .filter(({ at }) => runs.every(({ result }) => numberAt(result, at) === undefined))
    .map(({ at }) => at)
