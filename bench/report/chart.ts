/** Bars beside one another, as SVG that reads the same in a light and a dark page. */

export type Bar = {
  readonly label: string
  readonly value: number
  /** Ours are filled, those of others are grey. */
  readonly isOurs: boolean
}

const width = 760
const labels = 290
const rowHeight = 26
const top = 44

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** @param goal at most or at least so much: a line through all bars */
export function barChart(
  title: string,
  unit: string,
  bars: readonly Bar[],
  goal: number | undefined,
): string {
  const most = Math.max(...bars.map(({ value }) => value), goal ?? 0)
  const scale = (width - labels - 90) / (most || 1)
  const height = top + bars.length * rowHeight + 22
  const bottom = height - 18
  const rows = bars.map(({ label, value, isOurs }, i) => {
    const y = top + i * rowHeight
    const end = labels + Math.max(2, value * scale)
    return [
      `<text x="${labels - 8}" y="${y + 14}" fill="#1a202c" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${labels}" y="${y}" width="${round(end - labels)}" height="18" fill="${isOurs ? '#2b6cb0' : '#a0aec0'}"/>`,
      `<text x="${round(end + 6)}" y="${y + 14}" fill="#1a202c">${inDigits(value)}</text>`,
    ].join('\n')
  })
  const x = round(labels + (goal ?? 0) * scale)
  const line =
    goal === undefined
      ? []
      : [
          `<line x1="${x}" y1="${top - 8}" x2="${x}" y2="${bottom}" stroke="#c05621" stroke-dasharray="4 3"/>`,
          `<text x="${x}" y="${height - 5}" fill="#c05621" text-anchor="middle">goal ${inDigits(goal)}</text>`,
        ]
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="t">`,
    `<title id="t">${escaped(title)}, ${escaped(unit)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="14" y="24" fill="#1a202c" font-weight="600">${escaped(title)}, ${escaped(unit)}</text>`,
    ...rows,
    ...line,
    '</svg>',
  ].join('\n')}\n`
}

const round = (value: number): number => Math.round(value * 10) / 10

/** Three digits, or all before the point. */
export function inDigits(value: number): string {
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: decimals })
}
