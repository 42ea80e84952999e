import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { usualForm } from '../core/air/usual-ranges.ts'
import { boxForm } from '../core/map-box.ts'
import { isPlainName } from '../core/one-line.ts'
import { exitCodes, inWords, MustAct, WrongUsage } from '../runtime/exit.ts'
import { dataFolderOf } from '../runtime/process/config.ts'
import {
  readIdPrefix,
  readNetworkSettings,
  zoneOfCity,
} from '../runtime/process/network-settings.ts'
import { type Environment, flagOf } from '../runtime/settings.ts'
import { networkTable } from '../runtime/settings-table.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { envFile, otherIn, readEnvFile, type Wanted, writeEnvFile } from './shell/env-file.ts'
import { exactWords, textFlag } from './shell/words.ts'

type Name = keyof typeof networkTable
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's own keys
const names = Object.keys(networkTable) as Name[]

/** Without these a network would be in Lagos. */
const needed: readonly Name[] = ['AIRPROOF_NETWORK_NAME', 'AIRPROOF_ID_PREFIX', 'AIRPROOF_MAP_BOX']

const questions: Readonly<Record<Name, string>> = {
  AIRPROOF_NETWORK_NAME: 'The name of the network, mostly its city',
  AIRPROOF_ID_PREFIX: 'What every sensor id begins with, in capitals: BER for BER-MIT-001',
  AIRPROOF_TIMEZONE: 'Its time zone, as IANA names it',
  AIRPROOF_MAP_BOX: `What the map shows: ${boxForm}`,
  AIRPROOF_USUAL_RANGES: `What is usual there, the rest is flagged: ${usualForm}`,
  AIRPROOF_LANGUAGE: `The language of emails: ${networkTable.AIRPROOF_LANGUAGE.choices.join(' or ')}`,
}

export const command: Command = {
  summary: 'the settings of a network for your city, in .env',
  help: `\
usage: airproof init [--network-name NAME --id-prefix PREFIX --map-box W,S,E,N] [--timezone ZONE]
       [--usual-ranges RANGES] [--language en|fr] [--replace]

Writes into .env of this folder which city the network is of, and says what to run next. On a
terminal it asks for what no flag gives. A setting that .env has with another value is replaced
only if you say so: --replace, or yes on the terminal. Other lines of .env stay as they are.

  --network-name NAME  the name of the network, mostly its city
  --id-prefix PREFIX   what every sensor id begins with: BER for BER-MIT-001. It cannot change
                       once there are sensors
  --map-box W,S,E,N    what the map shows: west,south,east,north in degrees
  --timezone ZONE      where days begin and end (default: that of the city of this name)
  --usual-ranges R     values outside are flagged as unusual, ${usualForm}
  --language L         of emails and pages whose reader has not chosen one (default en)
  --replace            writes over what .env has
  --json               print what was written as JSON

examples:
  npx airproof init
  npx airproof init --network-name Berlin --id-prefix BER --map-box 13.0,52.3,13.8,52.7 \\
    --usual-ranges temperature=-20..40`,
  options: {
    ...Object.fromEntries(names.map((name) => [flagOf(name), { type: 'string' }] as const)),
    replace: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    exactWords(context.words)
    const { flags, print } = context
    const isAsking = context.isTerminal && process.stdin.isTTY && flags['json'] !== true
    const wanted = checked(isAsking ? await answersOf(context) : fromFlags(context))
    refuseOtherPrefix(context, wanted)
    const other = otherIn(wanted)
    const replace = flags['replace'] === true || (isAsking && (await mayReplace(other, context)))
    if (other.length > 0 && !replace)
      throw new MustAct(`${envFile} has another ${other.join(', ')}: --replace writes over it`)
    const written = writeEnvFile(wanted, { replace })
    if (flags['json'] === true) print(JSON.stringify({ file: envFile, settings: wanted, written }))
    else for (const line of nextSteps(wanted, written)) print(line)
    return exitCodes.done
  },
}

/** What holds here: a flag, else what `.env` says. */
function known({ flags, env }: CommandContext, name: Name): string | undefined {
  const text = textFlag(flags, flagOf(name)) ?? env[name]?.trim()
  return text === '' ? undefined : text
}

function fromFlags(context: CommandContext): Environment {
  const missing = needed.filter((name) => known(context, name) === undefined)
  if (missing.length > 0)
    throw new WrongUsage(
      `without a terminal to ask on, give ${missing.map((name) => `--${flagOf(name)}`).join(', ')}\nsee: airproof init --help`,
    )
  return Object.fromEntries(names.map((name) => [name, known(context, name)]))
}

/** Asks again until an answer is one that the processes can read. */
async function answersOf(context: CommandContext): Promise<Environment> {
  const answers: Record<string, string | undefined> = {}
  for (const name of names) {
    const flag = textFlag(context.flags, flagOf(name))
    const offer = flag ?? known(context, name) ?? offered(name, answers)
    const question = `${questions[name]}${offer === undefined ? '' : ` [${offer}]`}: `
    for (;;) {
      const typed = flag ?? (await ask(question, context.stop))
      const answer = typed === '' ? offer : typed
      if (answer === undefined && !needed.includes(name)) break
      const fault = answer === undefined ? 'it is needed' : faultOf({ ...answers, [name]: answer })
      answers[name] = answer
      if (fault === undefined) break
      if (flag !== undefined) throw new WrongUsage(fault)
      context.note(`  ${fault}`)
    }
  }
  return answers
}

async function ask(question: string, signal: AbortSignal): Promise<string> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr })
  // the end of the input, where nothing more can be answered
  const closed = new Promise<never>((_resolve, reject) => {
    terminal.once('close', () => reject(new WrongUsage('stopped: nothing was written')))
  })
  return (await Promise.race([terminal.question(question, { signal }), closed])).trim()
}

function offered(name: Name, answers: Environment): string | undefined {
  if (name === 'AIRPROOF_TIMEZONE') return zoneOfCity(answers['AIRPROOF_NETWORK_NAME'] ?? '')
  return name === 'AIRPROOF_LANGUAGE' ? networkTable[name].default : undefined
}

function faultOf(env: Environment): string | undefined {
  try {
    checked(env)
    return undefined
  } catch (error) {
    return inWords(error)
  }
}

const longestName = 80

/** As the processes read them. @throws WrongUsage that names the setting */
function checked(env: Environment): Wanted {
  const { name, timezone } = readNetworkSettings({ env, flags: {} })
  if (!isPlainName(name) || name.length > longestName)
    throw new WrongUsage(
      `AIRPROOF_NETWORK_NAME (--network-name) must be at most ${longestName} visible characters on one line`,
    )
  const given = Object.entries(env).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  // written down, as a later version may know another city of this name
  return { ...Object.fromEntries(given), AIRPROOF_TIMEZONE: timezone }
}

/** Entries of sensors with another prefix could no longer be read. */
function refuseOtherPrefix(context: CommandContext, wanted: Wanted): void {
  const folder = dataFolderOf(context)
  const former = readIdPrefix({ env: context.env, flags: {} })
  if (wanted['AIRPROOF_ID_PREFIX'] === former || !existsSync(join(folder, 'nats'))) return
  throw new MustAct(
    `${folder} holds the data of a network whose ids begin with ${former}, which cannot change: keep --id-prefix ${former}, or begin in another folder`,
  )
}

async function mayReplace(other: readonly string[], { stop }: CommandContext): Promise<boolean> {
  if (other.length === 0) return false
  const former = readEnvFile()
  const shown = other.map((name) => `${name} (${former[name]})`).join(', ')
  return /^y(es)?$/i.test(await ask(`${envFile} has another ${shown}. Replace? [y/N]: `, stop))
}

function nextSteps(wanted: Wanted, written: readonly string[]): readonly string[] {
  const { example } = sensorIdRules(wanted['AIRPROOF_ID_PREFIX'])
  return [
    `${envFile}: ${written.length === 0 ? 'has these settings already' : `written: ${written.join(', ')}`}`,
    '',
    'Next:',
    '  npx airproof map build                   # the ground of the map, once',
    '  npx airproof up --demo 10 --data try     # simulated sensors, in a folder to delete afterwards',
    '  npx airproof up                          # everything, on this machine',
    `  npx airproof sensors add --id ${example} --area Centre --lat LAT --lon LON --address ADDRESS`,
  ]
}
