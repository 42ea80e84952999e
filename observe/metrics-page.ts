/** `docs/metrics.md`, from what the processes register. */
import { type Registered, registered } from './registrations.ts'

/** The values of each label: all of them are ours, so there are few. */
const labelValues: Readonly<Record<string, string>> = {
  commit: 'of the checkout, or `unknown`',
  endpoint: 'an endpoint of [devices-http.md](devices-http.md), or `none`',
  event: 'a kind of event ([webhooks.md](webhooks.md))',
  kind: 'a kind of event, or of email',
  loop: 'a part of the gate',
  outcome: 'as the help says; refusals by the reasons of [sensors.md](sensors.md)',
  partition: '0 to 15',
  protocol: '`nats`, `mqtt`',
  reason: 'of an alarm ([operations.md](operations.md#what-to-watch)), a failure or a mismatch',
  route:
    'a pattern such as `/v1/sensors/:sensor_id`, never an address; `none`: there is no such route',
  status: 'of HTTP; of sensors `online`, `held`, `offline`, `unheard`',
  stream: 'a stream or bucket of ours',
  verdict: '`ok`, or why not',
  version: 'of package.json',
  why: 'as the help says',
}

const unitOf = ({ name, type }: Registered): string => {
  if (name.endsWith('_timestamp_seconds')) return 'Unix time, s'
  if (name.endsWith('_seconds')) return 's'
  if (name.endsWith('_bytes')) return 'bytes'
  return type === 'counter' ? 'count' : ''
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

export function metricsPage(): string {
  const metrics = registered()
  const used = [...new Set(metrics.flatMap(({ labels }) => labels))].toSorted()
  const rows = metrics.map((metric) => {
    const { name, type, labels, processes, help } = metric
    const all = processes.length === 7 ? 'all' : processes.map((one) => `\`${one}\``).join(', ')
    const label = labels.map((one) => `\`${one}\``).join(', ')
    return `| \`${name}\` | ${type} | ${label} | ${unitOf(metric)} | ${all} | ${cell(help)} |`
  })
  return `# Metrics

<!-- Written by \`npm run observe\` from the code: change the help there. -->

What \`/metrics\` of each process has ([operations.md](operations.md#processes-and-their-admin-ports) says at which port,
[observe.md](observe.md) how Prometheus and Grafana read it). Every one also has the label \`process\`, and what Node itself
reports (\`process_…\`, \`nodejs_…\`: memory, CPU time, event loop, garbage collection) is there too. Units are base units.

A series is made for values of ours only, never for what a client sends: a process has fewer than 3,000. A scrape asks nothing of
NATS, of the store or of the chain, so it answers while they do not.

| metric | type | labels | unit | process | what it says |
|---|---|---|---|---|---|
${rows.join('\n')}

| label | values |
|---|---|
${used.map((name) => `| \`${name}\` | ${valuesOf(name)} |`).join('\n')}
`
}

function valuesOf(label: string): string {
  const values = labelValues[label]
  if (values === undefined)
    throw new Error(
      `the label ${label} has no row in observe/metrics-page.ts: say what values it may have`,
    )
  return values
}
