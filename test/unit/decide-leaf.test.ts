/** Which leaf the readings of a message get, and what a device signed goes with them. */
import { expect, test } from 'vitest'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { evolve } from '../../core/state/evolve.ts'
import { createState, plainState } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { decideLate, decideMark, judgeLate, maxReadings } from '../../pipeline/decide/decide.ts'
import type { Believed } from '../../pipeline/decide/judge.ts'
import { decodeReadings, encodeReadings } from '../../schemas/log/readings-message.ts'
import {
  believed,
  encodedBytes,
  idsOf,
  judgedMessage,
  openDesk,
  partition,
  startMs,
} from '../support/decided.ts'

const [sensor = 'none' as SensorId] = idsOf(1)
const signed: DeviceSignature = {
  algorithm: 'ed25519',
  publicKey: 'A'.repeat(44),
  signature: 'B'.repeat(88),
  text: 'airproof.device.v1\nNGR-LOS-IKJ-001\n1750000000000\npm25=18.50',
}
const signature = { device: `0x${'ab'.repeat(32)}`, signed } as const
const counters = { lateTo: 0, listenedMs: 0 }

/** A newer reading and one that is late, both signed. */
const both = (more: Partial<Believed>) => [
  judgedMessage(1, [{ ...believed({ sensor, timeMs: startMs }), ...more }]),
  judgedMessage(2, [{ ...believed({ sensor, timeMs: startMs - minuteMs }), ...more }]),
]

test.each([1, 2] as const)(
  'leaf %i: a message and each of its readings say so, in both lanes',
  (v) => {
    const desk = openDesk({ leafVersion: v })
    const [message] = desk.decide(both(signature))
    const deferred = message?.deferred ?? []
    expect(deferred).toMatchObject([signature])
    const late = desk.commit(decideLate(desk.decider, judgeLate(deferred, []), counters))
    const wanted = v === 2 ? { leafVersion: 2, ...signature } : {}
    for (const one of [message, late]) {
      expect(one?.leafVersion).toBe(v === 2 ? 2 : undefined)
      const [reading] = one?.readings ?? []
      const { leafVersion, device, signed } = reading ?? {}
      expect(JSON.parse(JSON.stringify({ leafVersion, device, signed }))).toEqual(wanted)
    }
  },
)

test('a reading without a signature has no field for one', () => {
  const [message] = openDesk({ leafVersion: 2 }).decide(both({}))
  expect(Object.keys(message?.readings[0] ?? {})).not.toContain('device')
  expect(Object.keys(message?.readings[0] ?? {})).not.toContain('signed')
})

test('a mark changes nothing in the state, and is read as one', () => {
  const desk = openDesk()
  desk.decide(both({}))
  const before = plainState(desk.decider.state)
  const mark = desk.commit(decideMark(desk.decider, counters))
  expect(plainState(desk.decider.state)).toEqual({ ...before, readingsSeq: desk.log.length })
  const read = decodeReadings(mark, encodeReadings(mark, 3))
  expect(read).toMatchObject({ isMark: true, leafVersion: 2, nLast: 1, readings: [] })
  const state = createState(partition)
  for (const [i, message] of desk.log.entries()) evolve(state, message, i + 1)
  expect(plainState(state)).toEqual(plainState(desk.decider.state))
})

test('a message of signed readings, each as long as text may grow in JSON, stays below 512 KB', () => {
  const text = '\u0001'.repeat(400)
  const ids = idsOf(maxReadings)
  const messages = ids.map((id, i) =>
    judgedMessage(i + 1, [
      { ...believed({ sensor: id }), device: signature.device, signed: { ...signed, text } },
    ]),
  )
  const made = openDesk({ leafVersion: 2 }).decide(messages)
  expect(made.flatMap(({ readings }) => readings)).toHaveLength(maxReadings)
  for (const message of made) expect(encodedBytes(message)).toBeLessThan(512_000)
})
