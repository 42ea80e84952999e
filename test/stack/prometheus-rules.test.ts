/** The alert rules and scrape configurations, by Prometheus's own promtool. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { type AlertCase, alertCases } from '../support/alert-cases.ts'
import { findPrometheus } from '../support/prometheus.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const rulesFile = resolve('observe/prometheus/airproof.rules.yml')
type Rule = {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
const { groups } = parse(readFileSync(rulesFile, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

test('each alert is tried, and has its part of the runbook, in full', () => {
  expect(rules.filter(({ alert }) => !alertCases.some((one) => one.alert === alert))).toEqual([])
  const runbook = readFileSync('docs/runbook.md', 'utf8')
  const parts = new Map(
    runbook
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.split('\n')[0] ?? '', part]),
  )
  expect([...parts.keys()].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  for (const { alert, annotations, labels } of rules) {
    expect(annotations['runbook']).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
    expect(['page', 'ticket']).toContain(labels['severity'])
    for (const word of ['Means', 'Look at', 'Do'])
      expect(parts.get(alert)).toMatch(new RegExp(`^\\*\\*${word}\\*\\* \\S`, 'm'))
  }
})

const found = await findPrometheus(environment())
const missing = 'missing' in found ? ` (${found.missing})` : ''
const promtool = async (...args: readonly string[]): Promise<string> =>
  'missing' in found
    ? ''
    : await runTool(found.promtool, args, { env: environment(), timeoutMs: 60_000 })

test.skipIf(missing !== '')(
  `promtool accepts the rules and both configurations${missing}`,
  async () => {
    expect(await promtool('check', 'rules', '--lint-fatal', rulesFile)).toContain('SUCCESS')
    for (const name of ['up', 'compose'])
      expect(await promtool('check', 'config', `observe/prometheus/${name}.yml`)).toContain(
        'is valid',
      )
  },
)

const testsOf = (one: AlertCase, isFiring: boolean) => {
  const rule = rules.find(({ alert }) => alert === one.alert)
  const series = Object.entries(one.firing).map(([name, values], place) => ({
    series: name,
    values: place === 0 && !isFiring ? one.quiet : values,
  }))
  const expected = {
    exp_labels: { ...rule?.labels, ...one.labels },
    exp_annotations: rule?.annotations,
  }
  return {
    name: `${one.alert} ${isFiring ? 'fires' : 'is quiet'}`,
    interval: '1m',
    input_series: series,
    alert_rule_test: [
      { eval_time: one.at, alertname: one.alert, exp_alerts: isFiring ? [expected] : [] },
    ],
  }
}

const runRules = async (tests: readonly object[]): Promise<string> => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'rules.test.yml')
  writeFileSync(
    file,
    stringify({ rule_files: [rulesFile], tests }, { aliasDuplicateObjects: false, lineWidth: 0 }),
  )
  return await promtool('test', 'rules', file)
}

test.skipIf(missing !== '')(
  `each alert fires when it must, and not otherwise${missing}`,
  async () => {
    const tests = alertCases.flatMap((one) => [testsOf(one, true), testsOf(one, false)])
    expect(await runRules(tests)).toContain('SUCCESS')
  },
)

test.skipIf(missing !== '')(
  `canary: an alert that does not fire is noticed${missing}`,
  async () => {
    const [one] = alertCases
    if (one === undefined) throw new Error('there are no cases')
    const never = { ...testsOf(one, true), input_series: [] }
    await expect(runRules([never])).rejects.toThrow(/FAILED|exit code/)
  },
)
