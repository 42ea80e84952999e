/** What `observe/` says about metrics, against the code that makes them. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { madeHere } from '../../observe/made-here.ts'
import { boards } from '../../observe/panels.ts'
import { registered } from '../../observe/registrations.ts'

const metrics = registered()

it.each(madeHere())('%s is what the code says: else `npm run observe`', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text)
})

it.each(metrics)('$name is named as Prometheus asks', ({ name, type, help, labels }) => {
  expect(name).toMatch(/^airproof_[a-z0-9]+(_[a-z0-9]+)*$/)
  // base units only
  expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|hours|kb|mb|kib|mib|percent)(_|$)/)
  expect(name.endsWith('_total')).toBe(type === 'counter')
  expect(type !== 'histogram' || /_(seconds|bytes)$/.test(name)).toBe(true)
  expect(help).toMatch(/^\S.{10,}[^.]$/)
  for (const label of labels) expect(label).toMatch(/^[a-z][a-z_]*$/)
})

const panels = boards.flatMap((board) => board.panels)
const alerts = (
  parse(readFileSync('observe/prometheus/airproof.rules.yml', 'utf8')) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[]
    }[]
  }
).groups.flatMap((group) => group.rules)

/** Labels that Prometheus adds. */
const ofTarget = ['instance', 'job', 'process']

/** What is wrong with the names in an expression. */
function faultsOf(expr: string, legend = ''): readonly string[] {
  const names = [...expr.matchAll(/\bairproof_[a-z0-9_]+/g)].map(([name]) => name)
  const known = names.map((name) => ({
    name,
    metric: metrics.find((one) =>
      one.type === 'histogram'
        ? [`${one.name}_bucket`, `${one.name}_sum`, `${one.name}_count`].includes(name)
        : one.name === name,
    ),
  }))
  const labels = new Set([
    ...known.flatMap(({ metric }) => metric?.labels ?? []),
    ...ofTarget,
    'le',
  ])
  const matched = [...expr.matchAll(/([a-z_]+)=~?"/g)].map(([, label = '']) => label)
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  const shown = [...legend.matchAll(/\{\{([a-z_]+)\}\}/g)].map(([, label = '']) => label)
  const isGrouped = /\b(sum|max|min|count)\b/.test(expr)
  return [
    ...known.flatMap(({ name, metric }) => (metric ? [] : [`there is no metric ${name}`])),
    ...[...matched, ...grouped, ...shown].flatMap((label) =>
      labels.has(label) ? [] : [`no metric of it has the label ${label}`],
    ),
    ...(isGrouped ? shown.filter((label) => !grouped.includes(label)) : []),
  ]
}

it.each(alerts)('$alert names metrics and labels that there are', ({ expr }) => {
  expect(faultsOf(expr)).toEqual([])
})

it.each(panels)('the panel $title names metrics and labels that there are', (panel) => {
  const { shows, description } = panel
  for (const [expr, legend] of Object.entries(shows)) expect(faultsOf(expr, legend)).toEqual([])
  expect(description).toMatch(/^[A-Z0-9].{5,}[^.]$/)
})

it('canary: a metric or label that there is not is noticed', () => {
  expect(faultsOf('sum by (area) (airproof_sensor)', '{{area}}')).toEqual([
    'there is no metric airproof_sensor',
    'no metric of it has the label area',
    'no metric of it has the label area',
  ])
})

it('every metric that a person should look at is in a panel or an alert', () => {
  const all = [
    ...panels.flatMap(({ shows }) => Object.keys(shows)),
    ...alerts.map(({ expr }) => expr),
  ]
  const text = all.join('\n')
  expect(
    metrics.filter(({ name, help }) => /person should/.test(help) && !text.includes(name)),
  ).toEqual([])
})
