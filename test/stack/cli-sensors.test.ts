import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command as sensors } from '../../cli/sensors/sensors.ts'
import type { Command } from '../../cli/shell/command.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { importSensors, newEntry, openRegistry } from '../../operate/sensor-registry.ts'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { Flags } from '../../runtime/settings.ts'
import { parseSensor } from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { createSigner } from '../support/device-signer.ts'
import { type TestNats, testNats } from '../support/nats.ts'

let nats: TestNats
let nc: NatsConnection
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'airproof-sensors-'))
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const contextOf = (flags: Flags) => ({
  env: { AIRPROOF_DATA: folder, NATS_URL: nats.url },
  flags,
  note: () => undefined,
  isTerminal: false,
  stop: new AbortController().signal,
})

/** Runs a command as the command line does, and returns its output. */
async function run(command: Command, line: string, flags: Flags = {}): Promise<string> {
  const printed: string[] = []
  const code = await command.run({
    ...contextOf(flags),
    words: line.split(' '),
    print: (text) => printed.push(text),
  })
  expect(code).toBe(0)
  return printed.join('\n')
}

const runJson = async (line: string, flags: Flags = {}): Promise<unknown> =>
  JSON.parse(await run(sensors, line, { ...flags, json: true }))

const place = { area: 'Ikeja', lat: '6.6018', lon: '3.3515', address: '12 Palm Avenue' }

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

describe('sensors add, show, move, remove', () => {
  it('registers a sensor that the pipeline will know, once', async () => {
    const id = 'NGR-LOS-IKJ-001'
    expect(await runJson('add', { id, ...place, cadence: '30s' })).toEqual({
      id,
      key: expect.stringMatching(/^aqs_[0-9A-Za-z]{36}$/),
    })
    const { state, ...entry } = (await runJson(`show ${id}`)) as SensorEntry & { state: unknown }
    expect(state).toMatchObject({ key: 'good', connections: null, seen: {}, refused: {} })
    expect(parseSensor(entry, sensorIdRules())).toMatchObject({
      id,
      cadenceMs: 30_000,
      sites: [{ area: 'Ikeja', lat: 6.6018, lon: 3.3515, address: '12 Palm Avenue' }],
    })
    await expect(run(sensors, 'add', { id, ...place })).rejects.toThrow(/already/)
  })

  it('refuses an id of another form, and names the right form', async () => {
    for (const id of ['NGR-LOS-1', 'ngr-los-ikj-001', 'NGR-LOS-IKJ-1', 'NGR-LOS-IKJ-001.x', '*'])
      await expect(run(sensors, 'add', { id, ...place })).rejects.toThrow(
        /must look like NGR-LOS-\{AREA\}-\{NUMBER\}.*NGR-LOS-IKJ-001/,
      )
  })

  it('refuses a device that another sensor has, and names it', async () => {
    const device = 'ttn:70B3D57ED0000001'
    await run(sensors, 'add', { id: 'NGR-LOS-IKJ-041', ...place, device })
    for (const same of [device, 'ttn:70b3d57ed0000001'])
      await expect(
        run(sensors, 'add', { id: 'NGR-LOS-IKJ-042', ...place, device: same }),
      ).rejects.toThrow(/is the device of NGR-LOS-IKJ-041 already/)
    await expect(run(sensors, 'show NGR-LOS-IKJ-042')).rejects.toThrow(/no sensor/)
    await run(sensors, 'add', { id: 'NGR-LOS-IKJ-042', ...place, device: 'tasmota:Roof_1' })
    await run(sensors, 'add', { id: 'NGR-LOS-IKJ-043', ...place, device: 'tasmota:ROOF_1' })
  })

  it('gives a sensor the public key of its device, and another one later, from format level 3 on', async () => {
    const id = 'NGR-LOS-IKJ-051'
    await run(sensors, 'add', { id, ...place, from: '2026-01-01T00:00:00Z' })
    const [first, second] = [createSigner('ed25519'), createSigner('p256')]
    const [key, next] = [file('first.b64', `${first.publicKey}\n`), second.publicKey]
    const command = `set ${id}`
    const system = await new Kvm(nc).open(buckets.system)
    const before = (await system.get(systemKeys.format))?.string() ?? ''
    await system.put(systemKeys.format, '{"level":2}')
    await expect(run(sensors, command, { 'public-key': key })).rejects.toThrow(
      /checked from format level 3 on, and this instance writes formats of level 2.*airproof upgrade/,
    )
    await system.put(systemKeys.format, before)
    const set = (flags: Flags) => run(sensors, command, flags)
    await expect(set({ signature: 'required' })).rejects.toThrow(/no public key to check it with/)
    await expect(set({ 'public-key': key, algorithm: 'p256' })).rejects.toThrow(/key is of ed25519/)
    await expect(set({ 'public-key': 'nonsense!' })).rejects.toThrow(
      /a public key is PEM, or base64/,
    )
    await expect(set({ overlap: '1h' })).rejects.toThrow(/none is given/)
    const from = '2026-01-02T00:00:00Z'
    await set({ 'public-key': key, from, signature: 'required' })
    const other = { 'public-key': next, from: '2026-02-01T00:00:00Z', overlap: '2h' }
    expect((await set(other)).split('\n').slice(1)).toEqual([
      `The key ${next} is valid for readings from 2026-02-01T00:00:00Z on.`,
      `The key ${first.publicKey} is not valid from 2026-02-01T02:00:00Z on: readings of that time or later that are signed with it are refused as bad_signature; what it signed of earlier times is still accepted, also if it arrives later.`,
    ])
    const entry = (await runJson(`show ${id}`)) as SensorEntry
    expect(entry).toMatchObject({
      signature: 'required',
      keys: [
        {
          algorithm: 'ed25519',
          public_key: first.publicKey,
          from: '2026-01-02T00:00:00Z',
          until: '2026-02-01T02:00:00Z',
        },
        { algorithm: 'p256', public_key: next, from: '2026-02-01T00:00:00Z' },
      ],
    })
    // other changes leave the keys as they are
    await run(sensors, command, { cadence: '1m' })
    expect(await runJson(`show ${id}`)).toMatchObject({ keys: entry.keys, signature: 'required' })
    expect(await run(sensors, `show ${id}`)).toContain(
      `public key ${next} (p256), for readings from 2026-02-01T00:00:00Z`,
    )
    // without a key a sensor that must sign can send nothing
    const ends = `The key ${next} is not valid from `
    expect((await set({ 'public-key': 'none' })).split('\n')).toEqual([
      `${id} has another public key`,
      expect.stringContaining(ends),
      `The sensor has no key any more and must sign, so all that it measures from then on is refused: name a new --public-key, or let it send without a signature (sensors set ${id} --signature optional).`,
    ])
    await set({ 'public-key': key })
    const both = await set({ 'public-key': 'none', signature: 'optional' })
    expect(both.split('\n').at(-1)).toBe(
      'The sensor has no key any more: what it sends without a signature is accepted as not signed.',
    )
  })

  it('keeps what everyone may know about a device, from format level 3 on', async () => {
    const id = 'NGR-LOS-IKJ-052'
    const about = { make: 'AirGradient', model: 'O-1PST', licence: 'CC-BY-4.0', owner: 'Ẹgbẹ́' }
    const system = await new Kvm(nc).open(buckets.system)
    const before = (await system.get(systemKeys.format))?.string() ?? ''
    await system.put(systemKeys.format, '{"level":2}')
    const list = file('about.csv', 'id,area,lat,lon,indoor\nNGR-LOS-IKJ-053,Ikeja,6.6,3.3,yes\n')
    for (const command of [
      () => run(sensors, 'add', { id, ...place, ...about }),
      () => run(sensors, 'set NGR-LOS-IKJ-001', { indoor: 'yes' }),
      () => run(sensors, `import ${list}`),
    ])
      await expect(command()).rejects.toThrow(/make, .* are kept from format level 3 on/)
    await system.put(systemKeys.format, before)

    await run(sensors, 'add', { id, ...place, ...about, indoor: 'no', 'height-m': '2.5' })
    expect(await runJson(`show ${id}`)).toMatchObject({ ...about, indoor: false, height_m: 2.5 })
    const set = (flags: Flags) => run(sensors, `set ${id}`, flags)
    expect(await set({ owner: 'none', indoor: 'yes', make: 'AirGradient' })).toBe(
      `${id} has another indoor, owner`,
    )
    await run(sensors, `move ${id}`, { lat: '6.5', lon: '3.3' })
    const { owner: _, ...rest } = about
    const entry = await runJson(`show ${id}`)
    expect(entry).toMatchObject({ ...rest, indoor: true, height_m: 2.5 })
    expect(entry).not.toHaveProperty('owner')
    expect(await run(sensors, `show ${id}`)).toContain(
      'make AirGradient, model O-1PST, indoor true, height_m 2.5, licence CC-BY-4.0',
    )
    await expect(set({ indoor: 'perhaps' })).rejects.toThrow(/indoor must be yes or no/)
    await expect(set({ 'height-m': 'tall' })).rejects.toThrow(/height_m must be a number/)
    await expect(set({ 'height-m': '9001' })).rejects.toThrow(/height_m must be <= 9000/)
    await expect(set({ make: 'x'.repeat(81) })).rejects.toThrow(/make/)
  })

  it('reads what everyone may know from lists, and changes what differs', async () => {
    const list = (owner: string): string =>
      file(
        'more.csv',
        `id,area,lat,lon,make,indoor,owner\nNGR-LOS-IKJ-054,Ikeja,6.6,3.3,PMS,yes,${owner}\n`,
      )
    await run(sensors, `import ${list('Ada')}`)
    expect(await runJson('show NGR-LOS-IKJ-054')).toMatchObject({ indoor: true, owner: 'Ada' })
    expect(await run(sensors, `import ${list('none')}`)).toContain('1 changed (1 owner)')
    expect(await runJson('show NGR-LOS-IKJ-054')).not.toHaveProperty('owner')
    const point = { type: 'Point', coordinates: [3.42, 6.43] }
    const properties = { id: 'NGR-LOS-IKJ-055', area: 'Ikeja', indoor: true, height_m: 3 }
    const features = [{ type: 'Feature', geometry: point, properties }]
    const geojson = file('more.geojson', JSON.stringify({ type: 'FeatureCollection', features }))
    await run(sensors, `import ${geojson}`)
    expect(await runJson('show NGR-LOS-IKJ-055')).toMatchObject({ indoor: true, height_m: 3 })
  })

  it('refuses an invalid place, and names what is missing', async () => {
    const id = 'NGR-LOS-IKJ-009'
    await expect(run(sensors, 'add', { id, ...place, lat: '91' })).rejects.toThrow(WrongUsage)
    await expect(run(sensors, 'add', { ...place })).rejects.toThrow(/--id is needed/)
    await expect(run(sensors, 'add', { id, ...place, area: 'x'.repeat(81) })).rejects.toThrow(
      /not valid.*area/,
    )
    await expect(run(sensors, `show ${id}`)).rejects.toThrow(MustAct)
  })

  it('gives a moved sensor a site from then on and keeps the old one', async () => {
    const id = 'NGR-LOS-YAB-002'
    await run(sensors, 'add', { id, ...place, from: '2025-01-01T00:00:00Z' })
    await run(sensors, `move ${id}`, { lat: '6.5', lon: '3.37', from: '2026-01-01T00:00:00+01:00' })
    await run(sensors, `move ${id}`, { lat: '6.45', lon: '3.4', from: '2025-06-01T00:00:00Z' })
    const entry = (await runJson(`show ${id}`)) as SensorEntry
    expect(entry.sites.map(({ from, lat, area }) => [from, lat, area])).toEqual([
      ['2025-01-01T00:00:00Z', 6.6018, 'Ikeja'],
      ['2025-06-01T00:00:00Z', 6.45, 'Ikeja'],
      ['2025-12-31T23:00:00Z', 6.5, 'Ikeja'],
    ])
  })

  it('forgets a removed sensor, which can be added again', async () => {
    const id = 'NGR-LOS-LEK-003'
    await run(sensors, 'add', { id, ...place })
    await run(sensors, `remove ${id}`)
    await expect(run(sensors, `show ${id}`)).rejects.toThrow(/LEK-003 was removed/)
    await expect(run(sensors, `remove ${id}`)).rejects.toThrow(MustAct)
    await run(sensors, 'add', { id, ...place })
  })

  it('loses neither of two moves that are made at once', async () => {
    const id = 'NGR-LOS-APA-004'
    await run(sensors, 'add', { id, ...place, from: '2025-01-01T00:00:00Z' })
    await Promise.all(
      ['2', '3', '4', '5'].map((month) =>
        run(sensors, `move ${id}`, {
          lat: `6.${month}`,
          lon: '3',
          from: `2025-0${month}-01T00:00:00Z`,
        }),
      ),
    )
    expect(((await runJson(`show ${id}`)) as SensorEntry).sites).toHaveLength(5)
  })
})

describe('sensors import', () => {
  it('refuses a format without places', async () => {
    const lines = file('kept.ndjson', '{"sensor_id":"NGR-LOS-IKJ-017"}\n')
    await expect(run(sensors, `import ${lines}`, { format: 'ndjson' })).rejects.toThrow(
      /--format must be one of csv, geojson, sensors-africa, sensor-community, and is "ndjson"/,
    )
  })

  it('reads CSV with quotes, defaults and a column order of its own', async () => {
    const csv = file(
      'sensors.csv',
      `area,id,address,lon,lat,cadence
Ikeja,NGR-LOS-IKJ-101,"1 Palm Avenue, ""Ikeja""",3.35,6.6,30s
Yaba,NGR-LOS-YAB-102,,3.37,6.51,
`,
    )
    expect(await runJson(`import ${csv}`)).toEqual({
      created: 2,
      changed: 0,
      unchanged: 0,
      what: {},
      keys: expect.stringContaining(folder),
    })
    expect(await runJson('show NGR-LOS-IKJ-101')).toMatchObject({
      cadence_seconds: 30,
      sites: [{ address: '1 Palm Avenue, "Ikeja"', lat: 6.6 }],
    })
    expect(await runJson('show NGR-LOS-YAB-102')).toMatchObject({ cadence_seconds: 300 })
    expect(await runJson(`import ${csv}`)).toEqual({
      created: 0,
      changed: 0,
      unchanged: 2,
      what: {},
    })
  })

  it('makes no credentials with --keys none, and those that are lacking without it', async () => {
    const csv = file('gateway.csv', 'id,area,lat,lon\nNGR-LOS-YAB-103,Yaba,6.51,3.37\n')
    const words = await run(sensors, `import ${csv}`, { keys: 'none' })
    expect(words).toMatch(
      /1 sensors added.*they have no credentials, as sensors of an archive or of a gateway/s,
    )
    const keys = join(folder, 'gateway-keys.csv')
    await run(sensors, `import ${csv}`, { keys })
    expect(readFileSync(keys, 'utf8')).toMatch(/^id,key\nNGR-LOS-YAB-103,\w+\n$/)
  })

  it('reads GeoJSON points, longitude first', async () => {
    const geojson = file(
      'sensors.geojson',
      JSON.stringify({
        type: 'FeatureCollection',
        features: [
          {
            type: 'Feature',
            geometry: { type: 'Point', coordinates: [3.42, 6.43] },
            properties: { id: 'NGR-LOS-VIC-201', area: 'Victoria Island', address: 'Kite Street' },
          },
        ],
      }),
    )
    expect(await runJson(`import ${geojson}`)).toMatchObject({ created: 1 })
    expect(await runJson('show NGR-LOS-VIC-201')).toMatchObject({
      sites: [{ lat: 6.43, lon: 3.42, area: 'Victoria Island' }],
    })
  })

  it('writes nothing where one row is wrong, and names the file and the row', async () => {
    const csv = file(
      'wrong.csv',
      'id,area,lat,lon,address\nNGR-LOS-IKJ-301,Ikeja,6.6,3.3,\nNGR-LOS-IKJ-302,Ikeja,six,3.3,\n',
    )
    await expect(run(sensors, `import ${csv}`)).rejects.toThrow(
      /wrong\.csv: line 3: "six" is not a lat/,
    )
    const ids = file('ids.csv', 'id,area,lat,lon\nNGR-LOS-IKJ-303,I,6.6,3.3\nIKJ-304,I,6.6,3.3\n')
    await expect(run(sensors, `import ${ids}`)).rejects.toThrow(
      /ids\.csv: line 3: the id is not NGR-LOS.*IKJ-304/,
    )
    for (const id of ['NGR-LOS-IKJ-301', 'NGR-LOS-IKJ-303'])
      await expect(run(sensors, `show ${id}`)).rejects.toThrow(MustAct)
  })

  it('sets each device, and a second import changes what differs in the list', async () => {
    const list = (cadence: string, device: string): string =>
      file(
        'devices.csv',
        `id,area,lat,lon,device,device_options,receipts,cadence
NGR-LOS-IKJ-401,Ikeja,6.6,3.3,${device},client_id=ESP32_ddEEFF; indoor=true,yes,${cadence}
NGR-LOS-IKJ-402,Ikeja,6.6,3.4,,,,
`,
      )
    const device = { kind: 'airgradient', serial: 'aabbccddeeff' }
    const options = { client_id: 'ESP32_ddEEFF', indoor: true }
    await run(sensors, `import ${list('60', 'airgradient:aabbccddeeff')}`)
    expect(await runJson('show NGR-LOS-IKJ-401')).toMatchObject({
      cadence_seconds: 60,
      device: { ...device, options },
      receipts: true,
    })
    expect(await run(sensors, 'show NGR-LOS-IKJ-401')).toContain(
      'device airgradient:aabbccddeeff client_id=ESP32_ddEEFF indoor=true',
    )
    await run(sensors, 'set NGR-LOS-IKJ-402', { cadence: '2m' })
    expect(await run(sensors, `import ${list('30s', 'airgradient:aabbccddee00')}`)).toBe(
      '0 sensors added, 1 changed (1 cadence, 1 device), 1 as they were',
    )
    expect(await runJson('show NGR-LOS-IKJ-401')).toMatchObject({
      cadence_seconds: 30,
      device: { serial: 'aabbccddee00', options },
      receipts: true,
    })
    // an empty cell changes nothing
    expect(await runJson('show NGR-LOS-IKJ-402')).toMatchObject({ cadence_seconds: 120 })
  })

  it('takes a line for each site of a sensor, and its settings from any of them', async () => {
    const header = 'id,area,lat,lon,from,cadence,receipts\n'
    const first = 'NGR-LOS-TWO-001,A,6.1,3.1,2025-01-01T00:00:00Z,,yes\n'
    const second = 'NGR-LOS-TWO-001,B,6.2,3.2,2025-06-01T00:00:00Z,1m,\n'
    expect(await runJson(`import ${file('two.csv', header + second + first)}`)).toMatchObject({
      created: 1,
      changed: 0,
    })
    expect(await runJson('show NGR-LOS-TWO-001')).toMatchObject({
      cadence_seconds: 60,
      receipts: true,
      sites: [{ area: 'A' }, { area: 'B' }],
    })
    const third = 'NGR-LOS-TWO-001,C,6.3,3.3,2025-07-01T00:00:00Z,2m,\n'
    await expect(
      run(sensors, `import ${file('three.csv', header + second + third)}`),
    ).rejects.toThrow(/NGR-LOS-TWO-001 is named twice with another cadence:/)
  })

  it.each([
    ['id,area,lat,lon,devise\n', /there is no column "devise": did you mean "device"\?/],
    ['id,area,lat,lon,colour\n', /there is no column "colour": leave it out\. The columns are id,/],
    ['id,area,lat,lon,license\n', /there is no column "license": did you mean "licence"\?/],
    ['id,area,lat,lon,indoor\nNGR-LOS-BAD-001,A,6,3,half\n', /line 2: indoor must be yes or no/],
    ['id,area,lat,lon,height_m\nNGR-LOS-BAD-001,A,6,3,tall\n', /line 2: height_m must be a number/],
    [
      'id,area,lat,lon,height_m\nNGR-LOS-BAD-001,A,6,3,9001\n',
      /line 2: .*height_m must be <= 9000/,
    ],
    [`id,area,lat,lon,owner\nNGR-LOS-BAD-001,A,6,3,${'x'.repeat(201)}\n`, /line 2: .*owner/],
    ['id,area,lat,lat\n', /there are two columns "lat"/],
    [
      'id,area,lat,lon,device\n\n\nNGR-LOS-BAD-001,A,6,3,toaster:1\n',
      /line 4: a device must be KIND:SERIAL/,
    ],
    [
      'id,area,lat,lon,device\nNGR-LOS-BAD-001,A,6,3,airgradient:XYZ\n',
      /line 2: .*12 lower-case hex/,
    ],
    [
      'id,area,lat,lon,device_options\nNGR-LOS-BAD-001,A,6,3,a=b\n',
      /line 2: device options say more about a device/,
    ],
    [
      'id,area,lat,lon,receipts\nNGR-LOS-BAD-001,A,6,3,perhaps\n',
      /line 2: receipts must be yes or no, and is "perhaps"/,
    ],
    ['id,area,lat,lon,cadence\nNGR-LOS-BAD-001,A,6,3,often\n', /line 2: "often" is not a cadence/],
    [
      'id,area,lat,lon,cadence\nNGR-LOS-BAD-001,A,6,3,2d\n',
      /line 2: .*cadence_seconds must be <= 86400/,
    ],
    ['id,area,lat,lon\nNGR-LOS-BAD-001,"A\nB",6,3\nNGR-LOS-BAD-002,A,91,3\n', /line [24]: /],
    [
      'id,area,lat,lon\nNGR-LOS-BAD-001,A,6,3,Palm Avenue\n',
      /line 2 has more values .*"Palm Avenue"/,
    ],
    [
      'id,area,lat,lon\nNGR-LOS-BAD-001,A,6,3\nNGR-LOS-BAD-001,A,6,4\n',
      /NGR-LOS-BAD-001 is named twice for the same time/,
    ],
    ['id,area,lat,lon\n,A,6,3\n', /line 2 names no id/],
    [
      'id,area,lat,lon,device\nNGR-LOS-BAD-001,A,6,3,ttn:1\nNGR-LOS-BAD-002,A,6,3,ttn:1\n',
      /ttn:1, which NGR-LOS-BAD-002 should have, is the device of NGR-LOS-BAD-001/,
    ],
  ])('refuses the list %j, naming what is wrong, and writes nothing', async (content, words) => {
    await expect(run(sensors, `import ${file('bad.csv', content)}`)).rejects.toThrow(words)
    await expect(run(sensors, 'show NGR-LOS-BAD-001')).rejects.toThrow(/no sensor/)
  })

  it('changes a sensor with set, which keeps its sites and its credential', async () => {
    const id = 'NGR-LOS-SET-001'
    await run(sensors, 'add', { id, ...place, from: '2025-01-01T00:00:00Z' })
    await run(sensors, `move ${id}`, { lat: '6.5', lon: '3.37' })
    type Shown = SensorEntry & { readonly state: { readonly key_at: string } }
    const before = (await runJson(`show ${id}`)) as Shown
    const set = (flags: Flags): Promise<string> => run(sensors, `set ${id}`, flags)
    expect(await set({ cadence: '1m', device: 'ttn:70B3D57ED0000099', receipts: true })).toBe(
      `${id} has another cadence, device, receipts`,
    )
    expect(await set({ cadence: '60s' })).toBe(`${id} is as it was`)
    await set({ 'device-option': ['pm25=pm2_5'] })
    const after = (await runJson(`show ${id}`)) as Shown
    expect(after).toMatchObject({
      cadence_seconds: 60,
      receipts: true,
      device: { kind: 'ttn', serial: '70B3D57ED0000099', options: { pm25: 'pm2_5' } },
      sites: before.sites,
    })
    expect(after.state.key_at).toBe(before.state.key_at)
    await set({ device: 'none', 'no-receipts': true })
    const { device, receipts } = (await runJson(`show ${id}`)) as SensorEntry
    expect([device, receipts]).toEqual([undefined, undefined])
    await expect(set({})).rejects.toThrow(/nothing to set/)
    await expect(set({ device: 'ttn:70B3D57ED0000001' })).rejects.toThrow(/NGR-LOS-IKJ-041 already/)
  })

  it('registers ten thousand at once, and again without a change', async () => {
    const registry = await openRegistry(nc, sensorIdRules())
    const nowMs = Date.UTC(2026, 0, 1)
    const entries = Array.from({ length: 10_000 }, (_, i) =>
      newEntry({
        id: `NGR-LOS-BIG-${String(i).padStart(5, '0')}`,
        area: 'Big',
        lat: 6.5,
        lon: 3.4,
        address: '',
        cadenceSeconds: 300,
        fromMs: nowMs,
        nowMs,
      }),
    )
    const seen: number[] = []
    const imported = await importSensors(registry, entries, {
      onProgress: (done) => seen.push(done),
    })
    expect(imported).toMatchObject({ created: 10_000, changed: 0, unchanged: 0 })
    expect(seen.at(-1)).toBe(10_000)
    const listed = (await runJson('list', { area: 'big' })) as SensorEntry[]
    expect(listed.map(({ id }) => id)).toEqual(entries.map(({ id }) => id))
    expect(await importSensors(registry, entries.slice(0, 500))).toMatchObject({ unchanged: 500 })
  })
})

describe('a command without an instance', () => {
  it('names the command to start when nothing runs, and reports a silent NATS', async () => {
    const context = {
      flags: {},
      words: ['list'],
      print: () => undefined,
      note: () => undefined,
      isTerminal: false,
      stop: new AbortController().signal,
    }
    await expect(sensors.run({ ...context, env: { AIRPROOF_DATA: folder } })).rejects.toThrow(
      /nothing runs on .*airproof up/,
    )
    const env = { AIRPROOF_DATA: folder, NATS_URL: 'nats://127.0.0.1:1' }
    await expect(sensors.run({ ...context, env })).rejects.toThrow(/does not answer/)
  })

  it('names the command to start on a NATS without data of ours', async () => {
    await using empty = await testNats()
    const listing = sensors.run({
      env: { AIRPROOF_DATA: folder, NATS_URL: empty.url },
      flags: {},
      words: ['list'],
      print: () => undefined,
      note: () => undefined,
      isTerminal: false,
      stop: new AbortController().signal,
    })
    await expect(listing).rejects.toThrow(/holds no data of airproof yet/)
  })
})
