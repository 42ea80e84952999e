/** Log lines about clients that connect: few, short, and counted. */
import { expect, test } from 'vitest'
import { deniedLog } from '../../gate/callout/denied-log.ts'
import { indexClientIds } from '../../gate/client-ids.ts'
import { serverLines } from '../../runtime/engines/nats-lines.ts'
import { openLog } from '../../runtime/log.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'

const hourMs = 3_600_000

function saying() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => {
    lines.push(JSON.parse(line))
  }
  const log = openLog({ name: 'x', level: 'warn', to: { write } })
  const clock = { nowMs: 1 }
  return { lines, log, clock, now: () => clock.nowMs }
}

const line = (level: string, text: string) => `[7] 2026/11/21 08:00:00.000001 [${level}] ${text}`

test('a thousand clients cause only a few lines of a server’s log, each of them short', () => {
  const { lines, log, clock, now } = saying()
  const tell = serverLines(log, now)
  const loud = (n: number) =>
    `127.0.0.1:${n} - mid:${n} - "${'x'.repeat(60_000)}${n}" - QoS=2 is disabled for PUBLISH messages`
  for (let n = 0; n < 1_000; n++) tell(line('ERR', loud(n)))
  expect(lines.length).toBe(3)
  expect(Math.max(...lines.map(({ msg }) => String(msg).length))).toBeLessThan(500)
  clock.nowMs += hourMs
  tell(line('ERR', loud(1_000)))
  expect(lines.at(-1)).toMatchObject({ notShown: 997 })
})

test('a sign-in that the gate denied is logged by the gate, and that of our own users is not', () => {
  const { lines, log, now } = saying()
  const tell = serverLines(log, now)
  for (const text of [
    '127.0.0.1:5 - cid:9 - authentication error - User "NGR-LOS-IKJ-017"',
    '127.0.0.1:5 - mid:9 - "a" - authentication error - User "x - authentication error - User \\"api\\""',
    '127.0.0.1:5 - mid:9 - "NGR-LOS-IKJ-017" - unable to connect: authentication error',
    'Auth callout service returned an error: sign-in of a sensor: unknown',
  ])
    tell(line('ERR', text))
  expect(lines).toEqual([])
  tell(line('ERR', '127.0.0.1:5 - cid:9 - authentication error - User "api"'))
  tell(line('ERR', 'JetStream failed to store a msg'))
  expect(lines.length).toBe(2)
})

test('a refused device is logged once per hour, with the number of its tries', () => {
  const { lines, log, clock, now } = saying()
  const tell = deniedLog({ log, nowMs: now, most: 3 })
  const denied = (user: string) =>
    tell({ user, reason: 'unknown', protocol: 'mqtt', address: '127.0.0.1' })
  for (let n = 0; n < 700; n++) {
    denied('NGR-LOS-IKJ-017')
    clock.nowMs += 5_000
  }
  expect(lines.length).toBe(1)
  clock.nowMs += hourMs
  denied('NGR-LOS-IKJ-017')
  expect(lines.at(-1)).toMatchObject({ user: 'NGR-LOS-IKJ-017', reason: 'unknown', notShown: 699 })

  for (let n = 0; n < 10_000; n++) denied(`${'y'.repeat(200)}${n}`)
  for (let n = 0; n < 10_000; n++) denied(`stranger ${n}`)
  // two names, one of them cut, and one line for all others
  expect(lines.length).toBe(5)
  clock.nowMs += hourMs
  denied('NGR-LOS-YAB-002')
  expect(lines.at(-1)).toMatchObject({ user: 'NGR-LOS-YAB-002' })
})

test('a name in a server’s log belongs to the sensor with that client id, and to none if two have it', () => {
  const sensor = (id: string, own?: string) =>
    [
      id,
      { id, ...(own && { device: { kind: 'tasmota', serial: id, options: { client_id: own } } }) },
    ] as unknown as [string, RegisteredSensor]
  const sensors = new Map([sensor('A'), sensor('B', 'DVES_1'), sensor('C', 'DVES_2')])
  let change: (changed: { key: string; value: RegisteredSensor | undefined }) => void = () => {}
  const speakerOf = indexClientIds({
    get: (id) => sensors.get(id),
    entriesNaming: () => sensors.entries(),
    onChange: (listener) => {
      change = listener as typeof change
      return () => undefined
    },
  })
  expect(['A', 'B', 'DVES_1', 'DVES_3'].map(speakerOf)).toEqual(['A', 'B', 'B', undefined])
  change({ key: 'C', value: sensor('C', 'DVES_1')[1] })
  expect(['DVES_1', 'DVES_2'].map(speakerOf)).toEqual([undefined, undefined])
  change({ key: 'B', value: undefined })
  expect(speakerOf('DVES_1')).toBe('C')
})
