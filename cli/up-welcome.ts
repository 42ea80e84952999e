import { join, relative } from 'node:path'
import type { RunningInstance } from '../runtime/running-instance.ts'

/** What a person sees when everything answers: where it is, and lines that work as printed. */
export function printWelcome(
  { api, dashboard, nats, rpc, contract, key, account }: RunningInstance,
  dataFolder: string,
  print: (line: string) => void,
): void {
  const near = relative('.', dataFolder) || '.'
  const folder = near.startsWith('..') ? dataFolder : near
  const curl = (path: string): string =>
    `  curl -s -H 'Authorization: Bearer ${key}' '${api}${path}'`
  const lines = [
    '',
    'airproof is up',
    ...(dashboard === undefined ? [] : [`  pages    ${dashboard}`]),
    `  API      ${api}/v1`,
    `  NATS     ${nats}`,
    ...(rpc === undefined ? [] : [`  chain    ${rpc} (contract ${contract})`]),
    `  key      ${key}`,
    `  account  ${account.email} (its password is in ${join(folder, 'demo.json')})`,
    `  data     ${folder}`,
    '',
    'Try:',
    curl('/v1/sensors?limit=3'),
    curl('/v1/readings?limit=5'),
    curl('/v1/areas'),
    '',
    'Ctrl-C stops all of it; the next start goes on with the same data.',
    '',
  ]
  for (const line of lines) print(line)
}
