import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIso, parseIso } from '../../core/iso-time.ts'
import { issueCredential } from '../../operate/sensor-credentials.ts'
import { deviceOf, refuseTaken } from '../../operate/sensor-device.ts'
import { assertMayDescribe } from '../../operate/sensor-keys.ts'
import { entryFields } from '../../operate/sensor-list.ts'
import {
  cadenceSecondsOf,
  changeSensor,
  checkedId,
  createSensor,
  listSensors,
  mergeSites,
  needSensor,
  newEntry,
  removeSensor,
} from '../../operate/sensor-registry.ts'
import { saysAbout, withSettings } from '../../operate/sensor-settings.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import {
  type Device,
  defaultCadenceSeconds,
  type SensorEntry,
} from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { placedFormatNames } from '../replay/archive-formats.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { tableLines } from '../shell/table.ts'
import {
  durationFlag,
  exactWords,
  neededFlag,
  numberFlag,
  subcommand,
  textFlag,
  textsFlag,
} from '../shell/words.ts'
import { aboutFlags, aboutIn, aboutLines } from './about.ts'
import { importInto, isArchive } from './import.ts'
import { giveKeys, keyLines, keyOf, keysFileIn } from './key.ts'
import { openForOne, registryOf } from './one-sensor.ts'
import { setOf } from './set.ts'
import { keyLine } from './signing.ts'
import { readSensorState, stateLines } from './state.ts'

export const command: Command = {
  summary: 'the registry: add, import, list, show, move, set, remove sensors',
  help: `\
usage: airproof sensors add --id ID --area AREA --lat LAT --lon LON --address TEXT [--cadence 5m]
                            [--device KIND:SERIAL] [--device-option NAME=VALUE…] [--receipts]
                            [--make TEXT] [--model TEXT] [--indoor yes|no] [--height-m METRES]
                            [--licence TEXT] [--owner TEXT]
       airproof sensors import FILE… [--format FORMAT] [--area AREA] [--code ARC] [--cadence 5m]
       airproof sensors list [--area AREA]
       airproof sensors show ID
       airproof sensors move ID --lat LAT --lon LON [--area AREA] [--address TEXT] [--from TIME]
       airproof sensors set ID [--cadence 5m] [--device KIND:SERIAL | --device none]
                               [--device-option NAME=VALUE…] [--receipts | --no-receipts]
                               [--public-key FILE | --public-key none] [--from TIME]
                               [--overlap 24h] [--signature required | optional]
                               [--make …] (each of those of add; none: it is not known any more)
       airproof sensors key ID [--overlap 24h | --revoke]
       airproof sensors remove ID

A reading of a sensor that is not in the registry is refused (unknown_sensor), so add sensors
first. A sensor that moves gets a new site from a time on; its older readings stay at the old one.

A sensor signs in to NATS, MQTT and HTTP with its id and a credential, which \`add\` prints once.
\`key\` makes a new one: the old one stays valid for the time of --overlap. With --revoke the sensor
has none, and open connections end within a second. An import writes the credentials of all sensors
that had none to a file that only you can read, and prints its name.

  --cadence 5m        how often it measures; silent for three times as long, it is offline
  --from TIME         since when it is there, such as 2026-01-31T00:00:00Z (default: now); set: of
                      which reading on it signs with the key
A device may sign its readings (docs/sensors.md). It makes a pair of keys: the private one never
leaves it, and \`set --public-key\` gives the public one to the registry. This is not the credential,
with which it signs in. The time of a reading decides which key it must have: a new key is valid
from --from on, and the one before it for --overlap longer. So register the new one before the
device uses it.
  openssl genpkey -algorithm ed25519 -out sensor-017.key        stays on the device
  openssl pkey -in sensor-017.key -pubout -out sensor-017.pem   is for the registry

  --format FORMAT     of the files to import: csv, geojson (by their ending), or an archive's:
                      ${placedFormatNames.join(', ')};
                      then folders and .gz are fine too
  --code ARC          archives: the AREA part of the ids made, NGR-LOS-ARC-4851 for sensor 4851
  --area AREA         the area's name; archives: default Archive
  --device KIND:SERIAL  firmware with topics or bodies of its own (docs/sensors.md), as its
                      options say: airgradient, tasmota, esphome, zigbee2mqtt, airrohr,
                      sensor-community, purpleair, ttn, chirpstack
  --device-option N=V what that kind of device leaves to its owner; may be given several times
  --receipts          after each commit air.ack.ID carries the newest committed timestamp
  --no-receipts       stops receipts
  --make, --model, --indoor, --height-m, --licence, --owner
                      what everyone may know: /v1/sensors/ID shows it. The height is that above
                      the ground; without a licence that of the network counts
  --public-key FILE   with which its signatures are checked: PEM, or base64, also in place of the
                      file; none: its keys end now
  --algorithm NAME    ed25519 or p256, if you want to be sure; the key says it itself
  --signature required  refuses what is not signed; optional, the default, accepts it
  --overlap 24h       how long the old credential or key stays valid; 0s: not at all; up to 90d
  --revoke            revokes the credential; the sensor then has none
  --keys FILE         where an import writes credentials (default: a new file in the data folder);
                      none: it makes none, as for sensors that only a gateway sends for
  --json              print data as JSON

A CSV to import names its columns in the first line: id,area,lat,lon, and if you want them
address,cadence,from,device,device_options,receipts,public_key,signature,make,model,indoor,
height_m,licence,owner; another column is refused. device is KIND:SERIAL or none, device_options
NAME=VALUE;NAME=VALUE, receipts and indoor yes or no, public_key base64 or none, signature
required or optional. GeoJSON: a
FeatureCollection of Points with the same properties. A second import adds the sites that are new
and changes what is different in the list; an empty cell changes nothing. Sensors of an archive
get no credentials, unless --keys names a file for them.

examples:
  npx airproof sensors add --id NGR-LOS-IKJ-017 --area Ikeja --lat 6.6018 --lon 3.3515 \\
    --address "12 Allen Avenue, Ikeja"
  npx airproof sensors import our-sensors.csv
  npx airproof sensors import ./archive --format sensors-africa --code ARC --area Archive
  npx airproof sensors move NGR-LOS-IKJ-017 --lat 6.4281 --lon 3.4219 --area "Victoria Island"
  npx airproof sensors set NGR-LOS-IKJ-017 --cadence 1m --device airgradient:aabbccddeeff
  npx airproof sensors key NGR-LOS-IKJ-017 --overlap 24h
  npx airproof sensors set NGR-LOS-IKJ-017 --public-key sensor-017.pem --signature required
  npx airproof sensors list --json`,
  options: {
    id: { type: 'string' },
    area: { type: 'string' },
    lat: { type: 'string' },
    lon: { type: 'string' },
    address: { type: 'string' },
    cadence: { type: 'string' },
    from: { type: 'string' },
    format: { type: 'string' },
    code: { type: 'string' },
    device: { type: 'string' },
    'device-option': { type: 'string', multiple: true },
    receipts: { type: 'boolean' },
    'no-receipts': { type: 'boolean' },
    'public-key': { type: 'string' },
    algorithm: { type: 'string' },
    signature: { type: 'string' },
    ...Object.fromEntries(aboutFlags.map((name) => [name, { type: 'string' as const }])),
    overlap: { type: 'string' },
    revoke: { type: 'boolean' },
    keys: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    add: [...entryFields, 'device-option', 'receipts', ...aboutFlags, 'json'],
    import: ['format', 'area', 'code', 'cadence', 'keys', 'json'],
    list: ['area', 'json'],
    show: ['json'],
    move: ['lat', 'lon', 'area', 'address', 'from', 'json'],
    set: [
      'cadence',
      'device',
      'device-option',
      'receipts',
      'no-receipts',
      'public-key',
      'algorithm',
      'from',
      'overlap',
      'signature',
      ...aboutFlags,
      'json',
    ],
    key: ['overlap', 'revoke', 'json'],
    remove: ['json'],
  },
  run: async (context) => {
    const [verb, words] = subcommand('sensors', context.words, verbs)
    return await withInstance(context, (nc, config) => verb(nc, config, { ...context, words }))
  },
}

type Verb = (nc: NatsConnection, config: SharedConfig, context: CommandContext) => Promise<number>

const verbs: Readonly<Record<string, Verb>> = {
  add,
  import: importFiles,
  list,
  show,
  move,
  set: setOf,
  key: keyOf,
  remove,
}

async function add(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  exactWords(words)
  const registry = await registryOf(nc, config)
  const nowMs = Date.now()
  const device = deviceOf(textFlag(flags, 'device'), textsFlag(flags, 'device-option'))
  const bare = newEntry({
    id: checkedId(neededFlag(flags, 'id', registry.rules.example), registry.rules),
    area: neededFlag(flags, 'area', 'Centre'),
    ...neededPlace(flags),
    address: neededFlag(flags, 'address', '"12 Station Road"'),
    cadenceSeconds: cadenceOf(flags) ?? defaultCadenceSeconds,
    fromMs: fromOf(flags) ?? nowMs,
    nowMs,
  })
  const { id } = bare
  const about = aboutIn(flags)
  if (saysAbout(about)) await assertMayDescribe(nc)
  if (device) refuseTaken(new Map([[id, device]]), await listSensors(nc, registry.rules))
  await createSensor(registry, {
    ...withSettings(bare, about),
    ...(device && { device }),
    ...(flags['receipts'] === true ? { receipts: true } : {}),
  })
  const key = await issueCredential(await new Kvm(nc).open(buckets.credentials), id, { nowMs })
  if (flags['json'] === true) print(JSON.stringify({ id, key }))
  else for (const line of [`added ${id}`, ...keyLines(id, key, device)]) print(line)
  return exitCodes.done
}

async function importFiles(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print, isTerminal, stop }: CommandContext,
): Promise<number> {
  if (words.length === 0) throw new WrongUsage('FILE is missing: what should be imported?')
  const { imported, ids } = await importInto(nc, await registryOf(nc, config), {
    paths: words,
    format: textFlag(flags, 'format'),
    code: textFlag(flags, 'code'),
    area: textFlag(flags, 'area'),
    cadenceSeconds: cadenceOf(flags),
    idPrefix: config.idPrefix,
    nowMs: Date.now(),
    isTerminal,
    stop,
  })
  const chosen = textFlag(flags, 'keys')
  const wantsKeys = chosen === undefined ? !isArchive(textFlag(flags, 'format')) : chosen !== 'none'
  const file = chosen ?? keysFileIn(config.dataFolder, Date.now())
  const keys = wantsKeys ? await giveKeys(nc, ids, file) : undefined
  const { created, changed, unchanged, what } = imported
  if (flags['json'] === true) print(JSON.stringify({ ...imported, ...(keys && { keys }) }))
  else {
    const parts = Object.entries(what).map(([name, count]) => `${count} ${name}`)
    const changes = parts.length === 0 ? '' : ` (${parts.join(', ')})`
    print(`${created} sensors added, ${changed} changed${changes}, ${unchanged} as they were`)
    const cadence = cadenceOf(flags)
    if (cadence === undefined && isArchive(textFlag(flags, 'format')))
      print(
        `a reading is expected of each every ${defaultCadenceSeconds / 60} minutes, because an archive does not say how often: --cadence sets another`,
      )
    if (!wantsKeys)
      print(
        'they have no credentials, as sensors of an archive or of a gateway need none: --keys FILE, or `airproof sensors key ID`, makes them',
      )
    if (keys !== undefined) print(`their credentials are in ${keys}, and nowhere else`)
  }
  return exitCodes.done
}

async function list(
  nc: NatsConnection,
  { idPrefix }: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  exactWords(words)
  const area = textFlag(flags, 'area')?.toLowerCase()
  const all = await listSensors(nc, sensorIdRules(idPrefix))
  const sensors = all.filter(
    ({ sites }) => area === undefined || sites.at(-1)?.area.toLowerCase() === area,
  )
  if (flags['json'] === true) print(JSON.stringify(sensors))
  else for (const line of listLines(sensors)) print(line)
  return exitCodes.done
}

function listLines(sensors: readonly SensorEntry[]): readonly string[] {
  if (sensors.length === 0) return ['no sensors: `airproof sensors add` or `import` registers them']
  const rows = sensors.map(({ id, cadence_seconds: cadence, sites }) => {
    const site = sites.at(-1)
    const place = `${site?.lat}, ${site?.lon}`
    return [id, site?.area ?? '', place, `${cadence} s`, String(sites.length), site?.address ?? '']
  })
  return tableLines(['ID', 'AREA', 'PLACE', 'CADENCE', 'SITES', 'ADDRESS'], rows)
}

async function show(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  const { registry, id } = await openForOne(nc, config, words)
  const entry = await needSensor(registry, id)
  const state = await readSensorState(nc, id)
  if (flags['json'] === true) print(JSON.stringify({ ...entry, state }))
  else for (const line of [...showLines(entry), '', ...stateLines(state)]) print(line)
  return exitCodes.done
}

const showLines = (entry: SensorEntry): readonly string[] => [
  `${entry.id}  every ${entry.cadence_seconds} s, registered ${entry.created_at}`,
  ...aboutLines(entry),
  ...(entry.device ? [deviceLine(entry.device)] : []),
  ...(entry.receipts === true ? ['receipts: air.ack carries its newest committed timestamp'] : []),
  ...(entry.keys ?? []).map(keyLine),
  ...(entry.signature === undefined ? [] : [`its signature is ${entry.signature}`]),
  ...tableLines(
    ['FROM', 'AREA', 'LAT', 'LON', 'ADDRESS'],
    entry.sites.map(({ from, area, lat, lon, address }) => [
      from,
      area,
      String(lat),
      String(lon),
      address,
    ]),
  ),
]

function deviceLine({ kind, serial, options = {} }: Device): string {
  const pairs = Object.entries(options).map(([name, value]) => ` ${name}=${value}`)
  return `device ${kind}:${serial}${pairs.join('')}`
}

async function move(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  const { registry, id } = await openForOne(nc, config, words)
  const place = neededPlace(flags)
  const from = formatIso(fromOf(flags) ?? Date.now())
  const moved = await changeSensor(registry, id, (entry) => {
    const last = entry.sites.at(-1)
    const area = textFlag(flags, 'area') ?? last?.area ?? ''
    const address = textFlag(flags, 'address') ?? last?.address ?? ''
    return { ...entry, sites: mergeSites([...entry.sites, { from, area, ...place, address }]) }
  })
  print(flags['json'] === true ? JSON.stringify(moved) : `${id} is there from ${from} on`)
  return exitCodes.done
}

async function remove(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  const { registry, id } = await openForOne(nc, config, words)
  await removeSensor(registry, id, Date.now())
  print(
    flags['json'] === true
      ? JSON.stringify({ id })
      : `removed ${id}; its readings stay, and can be read and proven`,
  )
  return exitCodes.done
}

type Flags = CommandContext['flags']

function neededPlace(flags: Flags): { readonly lat: number; readonly lon: number } {
  const lat = numberFlag(flags, 'lat', { min: -90, max: 90 })
  const lon = numberFlag(flags, 'lon', { min: -180, max: 180 })
  if (lat === undefined || lon === undefined)
    throw new WrongUsage('--lat and --lon are needed, for example --lat 6.6018 --lon 3.3515')
  return { lat, lon }
}

function cadenceOf(flags: Flags): number | undefined {
  const ms = durationFlag(flags, 'cadence')
  return ms === undefined ? undefined : cadenceSecondsOf(ms)
}

function fromOf(flags: Flags): number | undefined {
  const text = textFlag(flags, 'from')
  if (text === undefined) return undefined
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new WrongUsage(`--from must be a time such as 2026-01-31T00:00:00Z, and is "${text}"`)
}
