import { networkInterfaces } from 'node:os'
import { join, relative } from 'node:path'
import { chainInWords, demonstrationChainId } from '../../core/proof/demonstration-chain.ts'
import type { RunningInstance } from '../../runtime/machine/running-instance.ts'
import type { Environment } from '../../runtime/settings.ts'

/** A folder as it is typed from here. */
export function near(dataFolder: string): string {
  const path = relative('.', dataFolder) || '.'
  return path.startsWith('..') ? dataFolder : path
}

type Seen = {
  readonly dataFolder: string
  readonly listen: string | undefined
  /** The chain is the one that `up` runs. */
  readonly isOwnChain: boolean
  readonly env: Environment
}

/** What a person sees when everything answers: the addresses, and lines that work as printed. */
export function printWelcome(
  { api, dashboard, nats, mqtt, push, rpc, contract, key, account }: RunningInstance,
  { dataFolder, listen, isOwnChain, env }: Seen,
  print: (line: string) => void,
): void {
  const folder = near(dataFolder)
  // without a mail server emails are files
  const hasMailFiles = env['SMTP_URL'] === undefined && env['SMTP_URL_FILE'] === undefined
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
    ...(rpc === undefined
      ? []
      : [
          `  chain    ${rpc} (${isOwnChain ? `${chainInWords(demonstrationChainId)}; ` : ''}contract ${contract})`,
        ]),
    `  key      ${key}`,
    `  account  ${account.email} (its password is in ${join(folder, 'demo.json')})`,
    `  operator npx airproof accounts role ${account.email} operator`,
    '           makes that account an operator, who has the page /operator',
    ...(hasMailFiles
      ? [`  emails   cat "$(ls -t ${join(folder, 'mail')}/*.eml | head -1)" shows the newest`]
      : []),
    `  data     ${folder}`,
    '',
    ...(listen === undefined
      ? ['All of it listens only on this machine; --listen ADDRESS lets sensors in from outside.']
      : listenLines(listen, env)),
    '',
    'Try:',
    curl('/v1/sensors?limit=3'),
    curl('/v1/readings?limit=5'),
    curl('/v1/areas'),
    '',
    'Ctrl-C stops all of it; the next start continues with the same data.',
    '',
  ]
  for (const line of lines) print(line)
}

/** The addresses for people and sensors outside. */
function listenLines(listen: string, env: Environment): readonly string[] {
  const isEvery = ['0.0.0.0', '::'].includes(listen)
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address)
  const at =
    isEvery && outside.length > 0 ? `every address; from outside: ${outside.join(', ')}` : listen
  return [
    `All of it listens on ${at} (the same ports).`,
    ...(env['AIRPROOF_PUBLIC_URL'] === undefined
      ? [
          'Links in mails and proofs name this machine: set AIRPROOF_PUBLIC_URL to the address that people use.',
        ]
      : []),
  ]
}
