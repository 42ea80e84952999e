import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { secondMs } from '../../core/time.ts'
import { type LateVerdict, maxReadings } from '../../pipeline/decide/decide.ts'
import { startLateLane } from '../../pipeline/late-lane.ts'
import { believed, idsOf, startMs } from '../support/decided.ts'

const sensor = idsOf(1)[0]!

/** Aborts when it has been asked so often: a lane that goes round without waiting ends too. */
function stopAfter(asked: number): AbortSignal {
  const { signal } = new AbortController()
  let left = asked
  Object.defineProperty(signal, 'aborted', { get: () => left-- <= 0 })
  return signal
}

test('the repeats of a whole batch get their verdicts, although they fill more than a message', async () => {
  const submitted: { verdicts: readonly LateVerdict[]; lateTo: number }[] = []
  const lane = startLateLane({
    // what is offered is kept, so the log is never read
    nc: {} as NatsConnection,
    partition: 5,
    lateTo: 0,
    lastSeq: 0,
    existing: async (keys) => keys.map(() => undefined),
    isRefusedKey: () => false,
    stored: async () => undefined,
    submit: async (verdicts, lateTo) => submitted.push({ verdicts, lateTo }),
    onFailure: (error) => {
      throw error
    },
    pause: async () => undefined,
    stop: stopAfter(1_000),
  })
  const deferred = Array.from({ length: maxReadings }, (_, i) =>
    believed({ sensor, timeMs: startMs + i * secondMs }),
  )
  lane.offer(7, deferred)
  lane.offer(9, deferred.slice(0, 3))
  await new Promise((resolve) => setImmediate(resolve))
  expect(submitted.map(({ verdicts, lateTo }) => [verdicts.length, lateTo])).toEqual([
    [maxReadings, 7],
    [3, 9],
  ])
  expect(lane.lateTo()).toBe(9)
})
