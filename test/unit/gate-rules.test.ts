import { array, assert, integer, property } from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openDenials } from '../../cli/up/denials.ts'
import { defaultFloodBounds, spend } from '../../core/access/flood.ts'
import { createFloodLedger } from '../../gate/connections/flood-ledger.ts'
import { floodGuard } from '../../gate/push/flood.ts'
import { deviceOf } from '../../operate/sensor-device.ts'
import { readDenied } from '../../runtime/engines/nats-lines.ts'
import { isDenial } from '../support/running-city.ts'

describe('a sensor’s allowance', () => {
  test('a whole burst is not a flood, one message more is', () => {
    const burst = spend(undefined, defaultFloodBounds.burst, 0, defaultFloodBounds)
    expect(burst.left).toBe(0)
    expect(spend(burst, 1, 0, defaultFloodBounds).left).toBe(-1)
  })

  test('a sensor that sends one per second for ever never floods', () => {
    let allowance = spend(undefined, 0, 0, defaultFloodBounds)
    for (let second = 1; second < 5_000; second++)
      allowance = spend(allowance, 1, second * 1_000, defaultFloodBounds)
    expect(allowance.left).toBeGreaterThanOrEqual(0)
  })

  test('it is never more than the burst, and looking more often changes nothing', () => {
    assert(
      property(array(integer({ min: 0, max: 3_000 }), { maxLength: 20 }), (pauses) => {
        const bounds = { perSecond: 2, burst: 50 }
        let [often, nowMs] = [spend(undefined, 50, 0, bounds), 0]
        for (const pause of pauses) {
          nowMs += pause
          often = spend(often, 0, nowMs, bounds)
        }
        const once = spend(spend(undefined, 50, 0, bounds), 0, nowMs, bounds)
        expect(often.left).toBeCloseTo(once.left, 6)
        expect(often.left).toBeLessThanOrEqual(50)
      }),
    )
  })
})

describe('the ledger of all protocols of a sensor', () => {
  const bounds = { perSecond: 5, burst: 50 }
  function ledgerOf() {
    const clock = { nowMs: 1_000_000 }
    const floods: string[] = []
    const ledger = createFloodLedger({
      boundsOf: (user) => (user === 'operator' ? undefined : bounds),
      onFlood: (id) => void floods.push(id),
      nowMs: () => Math.floor(clock.nowMs),
    })
    return { clock, floods, ledger }
  }

  test('a sensor that pushes as fast as HTTP lets it never floods, with one more message it does', () => {
    const { clock, floods, ledger } = ledgerOf()
    const guard = floodGuard({
      limitOf: () => bounds,
      pausedForMs: () => 0,
      onSpent: ledger.charge,
      clockMs: () => clock.nowMs + 0.7,
    })
    for (let tries = 0; tries < 20_000; tries++) {
      clock.nowMs += 13.37
      try {
        guard('A', 1_000)
      } catch {
        // 429: it is sent again
      }
    }
    expect(floods).toEqual([])
    ledger.charge('A', 3)
    expect(floods).toEqual(['A'])
  })

  test('what is not a sensor sends what it likes, and a sensor that was calm for long is forgotten', () => {
    const { clock, floods, ledger } = ledgerOf()
    ledger.charge('operator', 1e9)
    ledger.charge('A', 50)
    clock.nowMs += 10_000
    ledger.forgetCalm(() => false)
    ledger.charge('A', 50)
    expect(floods).toEqual([])
    ledger.charge('A', 2)
    expect(floods).toEqual(['A'])
  })
})

test.each([
  [
    '[7] 2026/11/21 08:00:00.000001 [ERR] 127.0.0.1:5 - cid:9 - "v3.4.0:nats.js" - "AIR/user:NGR-LOS-IKJ-017" - Publish Violation - Subject "air.readings.0"',
    { who: 'NGR-LOS-IKJ-017', what: 'publish', subject: 'air.readings.0' },
  ],
  [
    '[7] 2026/11/21 08:00:00.000001 [ERR] 127.0.0.1:5 - mid:9 - "DVES_1" - Subscription Violation - Subject "cmnd.a.>", SID cmnd.a.>',
    { who: 'DVES_1', what: 'subscribe', subject: 'cmnd.a.>' },
  ],
  [
    // a client may call itself what it likes
    '[7] 2026/11/21 08:00:00.000001 [ERR] 127.0.0.1:5 - cid:9 - "v1:a:\\"x\\" - AIR/user:NGR-LOS-YAB-002 - Publish Violation - z" - "SENSORS/user:NGR-LOS-IKJ-017" - Publish Violation - Subject "a"',
    { who: 'NGR-LOS-IKJ-017', what: 'publish', subject: 'a' },
  ],
  [
    // and a stranger who signs in too
    '[7] 2026/11/21 08:00:00.000001 [ERR] 127.0.0.1:5 - cid:9 - authentication error - User "x - AIR/user:NGR-LOS-YAB-002 - Publish Violation - \\"y\\""',
    undefined,
  ],
  [
    '[7] 2026/11/21 08:00:00.000001 [WRN] 127.0.0.1:5 - mid:9 - "a" - Took too long to process subscription for "x - AIR/user:NGR-LOS-YAB-002 - Publish Violation - y": 234ms',
    undefined,
  ],
  ['[7] 2026/11/21 08:00:00.000001 [INF] Server is ready', undefined],
])('the line %j of a server’s log', (line, denied) => {
  expect(readDenied(line)).toEqual(denied)
})

test('the journeys through `up` fail on what is denied to a process, and not to a sensor (canary)', () => {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
  using denials = openDenials({ log })
  denials.note({ who: 'api', what: 'publish', subject: '$KV.passwords.x' })
  denials.note({ who: 'NGR-LOS-IKJ-017', what: 'publish', subject: 'air.readings.0' })
  expect(logged.map((line) => isDenial.test(line))).toEqual([true, false])
})

describe('a device at the command line', () => {
  test('kind, serial and options become what the registry holds', () => {
    expect(deviceOf('ttn:70B3D57ED0000001', ['pm25=pm2_5', 'factor=10', 'indoor=true'])).toEqual({
      kind: 'ttn',
      serial: '70B3D57ED0000001',
      options: { pm25: 'pm2_5', factor: 10, indoor: true },
    })
    expect(deviceOf(undefined, [])).toBeUndefined()
  })

  test.each<[string | undefined, readonly string[], RegExp]>([
    ['toaster:1', [], /KIND one of airgradient/],
    ['tasmota', [], /KIND:SERIAL/],
    ['airgradient:XYZ', [], /12 lower-case hex digits/],
    [undefined, ['a=b'], /options say more about a device/],
    ['ttn:1', ['nonsense'], /NAME=VALUE/],
  ])('%s with %j is refused with a sentence', (text, options, why) => {
    expect(() => deviceOf(text, options)).toThrow(why)
  })
})
