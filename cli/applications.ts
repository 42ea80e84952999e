import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type QuantityName, quantityNames } from '../core/air/quantities.ts'
import { dayMs } from '../core/time.ts'
import {
  createApplication,
  listApplications,
  openApplications,
  removeApplication,
  renewApplication,
} from '../operate/applications.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import { type Application, applicationKinds } from '../schemas/devices/application.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { tableLines } from './shell/table.ts'
import { durationFlag, exactWords, neededFlag, subcommand, textsFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'what sends for many sensors: LoRaWAN network servers and gateways',
  help: `\
usage: airproof applications add ID --kind ttn|chirpstack --field NAME=KEY… [--devices START…]
       airproof applications add ID --kind gateway [--sensors START…]
       airproof applications list
       airproof applications key ID [--overlap 24h]
       airproof applications remove ID

A network server (The Things Stack, ChirpStack 4) posts the uplinks of all its devices with one
credential, the application's. The registry says which sensor a device is: its entry names the kind
and the device EUI. The table of fields says which key of the decoded payload holds what. A gateway
posts readings of many sensors to /push/bulk, and names the sensor in each.

  --kind KIND       ttn, chirpstack or gateway
  --field NAME=KEY  a quantity of docs/sensors.md (pm25, co2, pressure …) in its unit there;
                    once for each; a dot in KEY goes into an object
  --devices START   only devices whose EUI begins with it; repeatable (default: any of its kind)
  --sensors START   only sensors whose id begins with it; repeatable (default: any in the registry)
  --overlap 24h     how long the old credential stays valid; 0s: not at all
  --json            print data as JSON; add and key give {"id", "key"}

The credential is shown only once: we store nothing but its hash.

examples:
  npx airproof applications add roofs --kind ttn --field pm25=pm2_5 --field humidity=hum
  npx airproof applications add poles --kind chirpstack --field co2=air.co2 --devices 70B3D57ED0
  npx airproof applications add north --kind gateway --sensors NGR-LOS-IKJ-
  npx airproof applications list
  npx airproof applications key roofs --overlap 7d`,
  options: {
    kind: { type: 'string' },
    field: { type: 'string', multiple: true },
    devices: { type: 'string', multiple: true },
    sensors: { type: 'string', multiple: true },
    overlap: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    add: ['kind', 'field', 'devices', 'sensors', 'json'],
    list: ['json'],
    key: ['overlap', 'json'],
    remove: ['json'],
  },
  run: async (context) => {
    const [verb, words] = subcommand('applications', context.words, { add, list, key, remove })
    return await withInstance(context, async (nc) =>
      verb({ nc, kv: await openApplications(nc) }, { ...context, words }),
    )
  },
}

type Opened = { readonly nc: NatsConnection; readonly kv: KV }

async function add({ kv }: Opened, { flags, words, print, note }: CommandContext): Promise<number> {
  const id = checkedId(exactWords(words, 'ID')[0] ?? '')
  const given = neededFlag(flags, 'kind', 'ttn')
  const kind = applicationKinds.find((known) => known === given)
  if (kind === undefined)
    throw new WrongUsage(`--kind must be one of ${applicationKinds.join(', ')}, and is "${given}"`)
  const devices = textsFlag(flags, 'devices').map((start) => start.toUpperCase())
  const sensors = textsFlag(flags, 'sensors')
  const application = {
    id,
    kind,
    ...(kind === 'gateway' ? {} : { fields: fieldsOf(textsFlag(flags, 'field')) }),
    ...(devices.length > 0 && { devices }),
    ...(sensors.length > 0 && { sensors: [...sensors] }),
  }
  const secret = await createApplication(kv, application, Date.now())
  if (flags['json'] === true) print(JSON.stringify({ id, key: secret }))
  else {
    print(secret)
    const endpoint = kind === 'gateway' ? 'bulk' : kind
    note(`shown only now: post to /push/${endpoint} as user ${id} with it`)
  }
  return exitCodes.done
}

async function list({ nc }: Opened, { flags, words, print }: CommandContext): Promise<number> {
  exactWords(words)
  const all = (await listApplications(nc)).map(shownOf)
  if (flags['json'] === true) print(JSON.stringify(all))
  else for (const line of linesOf(all)) print(line)
  return exitCodes.done
}

async function key({ kv }: Opened, { flags, words, print, note }: CommandContext): Promise<number> {
  const id = checkedId(exactWords(words, 'ID')[0] ?? '')
  const overlapMs = durationFlag(flags, 'overlap') ?? dayMs
  const secret = await renewApplication(kv, id, { nowMs: Date.now(), overlapMs })
  if (flags['json'] === true) print(JSON.stringify({ id, key: secret }))
  else {
    print(secret)
    note(
      overlapMs > 0
        ? 'shown only now; the old one stays valid for a while'
        : 'shown only now; the old one no longer works',
    )
  }
  return exitCodes.done
}

async function remove({ kv }: Opened, { flags, words, print }: CommandContext): Promise<number> {
  const id = checkedId(exactWords(words, 'ID')[0] ?? '')
  await removeApplication(kv, id)
  print(flags['json'] === true ? JSON.stringify({ id }) : `removed ${id}; its sensors stay`)
  return exitCodes.done
}

function checkedId(text: string): string {
  if (/^[a-z][a-z0-9-]{1,39}$/.test(text)) return text
  throw new WrongUsage(
    `"${text}" is not an application's id: 2 to 40 small letters, digits and dashes, a letter first`,
  )
}

/** What `--field` says, once for each. @throws WrongUsage */
export function fieldsOf(texts: readonly string[]): NonNullable<Application['fields']> {
  const fields: { [Name in QuantityName]?: string } = {}
  for (const text of texts) {
    const [given = '', ...rest] = text.split('=')
    const name = quantityNames.find((known) => known === given)
    const path = rest.join('=')
    if (name === undefined || path === '')
      throw new WrongUsage(
        `--field must be NAME=KEY with NAME one of ${quantityNames.join(', ')}, and is "${text}"`,
      )
    if (fields[name] !== undefined) throw new WrongUsage(`--field ${name} is given twice`)
    fields[name] = path
  }
  if (Object.keys(fields).length > 0) return fields
  throw new WrongUsage('--field is needed, for example --field pm25=pm2_5')
}

type Shown = Omit<Application, 'credential'>

/** Without its hash, which only the gate needs. */
const shownOf = ({ credential: _hash, ...shown }: Application): Shown => shown

const linesOf = (all: readonly Shown[]): readonly string[] =>
  all.length === 0
    ? ['no applications: `airproof applications add` makes one']
    : tableLines(
        ['ID', 'KIND', 'FIELDS', 'SENDS FOR', 'CREATED'],
        all.map(({ id, kind, fields = {}, devices, sensors, created_at: createdAt }) => [
          id,
          kind,
          Object.entries(fields)
            .map(([name, path]) => `${name}=${path}`)
            .join(' '),
          (devices ?? sensors)?.map((start) => `${start}…`).join(' ') ?? 'any',
          createdAt,
        ]),
      )
