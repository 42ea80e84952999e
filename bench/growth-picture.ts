/** The documents of `growth.ts` as one SVG: a panel for each engine, a line for each cost. */

type Compared = { readonly ratio: { readonly cpu: number } }
type Step = { readonly rows: number; readonly [cost: string]: unknown }
type Document = {
  readonly engine: string
  /** The small store, whose costs are 1. */
  readonly smallRows: number
  readonly steps: readonly Step[]
}

const colours = [
  '#1d4ed8',
  '#b45309',
  '#047857',
  '#be123c',
  '#6d28d9',
  '#0e7490',
  '#4d7c0f',
  '#a21caf',
]
const costs = {
  write: 'write',
  newestOfSensor: 'newest of a sensor',
  pageOfSensor: 'page of a sensor',
  cursorPage: 'page of all',
  lateLane: 'late readings looked up',
  overallOfNetwork: '12 h of the network',
  overallOfArea: '12 h of an area',
  thirtyDays: '30 days of hours',
} as const

const panel = { width: 380, height: 250, left: 46, right: 14, top: 40, bottom: 34 }
const legendHeight = 64
/** A cost of half and of double the small store's. */
const [lowest, highest] = [0.5, 2]

const place = (part: number, from: number, to: number): string =>
  (from + part * (to - from)).toFixed(1)
/** Both axes are logarithmic. */
const partOf = (value: number, low: number, high: number): number =>
  Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low)))

const isCompared = (value: unknown): value is Compared =>
  typeof value === 'object' && value !== null && 'ratio' in value

const million = (rows: number): string => `${Math.round(rows / 1_000_000)} M`

function panelOf({ engine, smallRows, steps }: Document, offset: number): string {
  const [first, last] = [smallRows, Math.max(...steps.map(({ rows }) => rows))]
  const x = (rows: number): string =>
    place(partOf(rows, first, last), offset + panel.left, offset + panel.width - panel.right)
  const y = (ratio: number): string =>
    place(partOf(ratio, lowest, highest), panel.height - panel.bottom, panel.top)
  const [from, to] = [x(first), x(last)]
  const grid = [0.5, 0.8, 1, 1.2, 2].map(
    (ratio) =>
      `<line x1="${from}" x2="${to}" y1="${y(ratio)}" y2="${y(ratio)}" stroke="#e2e8f0"/><text x="${offset + panel.left - 6}" y="${y(ratio)}" dy="4" text-anchor="end" fill="#4a5568" font-size="11">${ratio}</text>`,
  )
  const ticks = [smallRows, ...steps.map(({ rows }) => rows)].map(
    (rows) =>
      `<text x="${x(rows)}" y="${panel.height - panel.bottom + 18}" text-anchor="middle" fill="#4a5568" font-size="11">${million(rows)}</text>`,
  )
  const lines = Object.keys(costs).map((cost, at) => {
    const points = steps.flatMap((step) => {
      const value = step[cost]
      return isCompared(value) ? [`${x(step.rows)},${y(value.ratio.cpu)}`] : []
    })
    return `<polyline points="${x(smallRows)},${y(1)} ${points.join(' ')}" fill="none" stroke="${colours[at]}" stroke-width="2"/>`
  })
  return [
    `<text x="${offset + panel.left}" y="24" fill="#1a202c" font-weight="600">${engine === 'influx' ? 'InfluxDB' : 'SQLite'}</text>`,
    `<rect x="${from}" y="${y(1.2)}" width="${Number(to) - Number(from)}" height="${Number(y(0.8)) - Number(y(1.2))}" fill="#f1f5f9"/>`,
    ...grid,
    ...ticks,
    ...lines,
  ].join('\n')
}

/** @param documents as `growth.ts` prints them */
export function growthPicture(documents: readonly string[]): string {
  // a bench's own file
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const panels = documents.map((text) => JSON.parse(text) as Document)
  const width = panels.length * panel.width
  const height = panel.height + legendHeight
  const each = width / 2
  const legend = Object.values(costs).map((name, at) => {
    const [column, row] = [at % 2, at >> 1]
    const [x, y] = [panel.left + column * each, panel.height + 12 + row * 14]
    return `<line x1="${x}" x2="${x + 18}" y1="${y - 4}" y2="${y - 4}" stroke="${colours[at]}" stroke-width="3"/><text x="${x + 24}" y="${y}" fill="#1a202c" font-size="11">${name}</text>`
  })
  const most = Math.max(...panels.flatMap(({ steps }) => steps.map(({ rows }) => rows)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="t d">
<title id="t">What a store costs as it grows</title>
<desc id="d">CPU time of each cost beside that of a store of a million readings, up to ${million(most)}; the band is 20 % more and less.</desc>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.map((document, at) => panelOf(document, at * panel.width)).join('\n')}
${legend.join('\n')}
</svg>
`
}
