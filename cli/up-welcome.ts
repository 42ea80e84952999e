import { join, relative } from 'node:path'
import type { RunningInstance } from '../runtime/running-instance.ts'

type Where = {
  readonly dataFolder: string
  readonly listen: string | undefined
  /** Without a mail server emails are files. */
  readonly hasMailFiles: boolean
}

/** What a person sees when everything answers: where it is, and lines that work as printed. */
export function printWelcome(
  { api, dashboard, nats, mqtt, push, rpc, contract, key, account }: RunningInstance,
  { dataFolder, listen, hasMailFiles }: Where,
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
    ...(mqtt === undefined ? [] : [`  MQTT     ${mqtt}`]),
    ...(push === undefined ? [] : [`  push     ${push}/push/…`]),
    ...(rpc === undefined ? [] : [`  chain    ${rpc} (contract ${contract})`]),
    `  key      ${key}`,
    `  account  ${account.email} (its password is in ${join(folder, 'demo.json')})`,
    ...(hasMailFiles
      ? [`  emails   cat "$(ls -t ${join(folder, 'mail')}/*.eml | head -1)" shows the newest`]
      : []),
    `  data     ${folder}`,
    '',
    listen === undefined
      ? 'All of it listens on this machine alone; --listen ADDRESS lets sensors in from outside.'
      : `All of it listens on ${listen}.`,
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
