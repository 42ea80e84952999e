/** Where the late lane goes on after a crash, on a real log. */
import { expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { minuteMs } from '../../core/time.ts'
import type { LateVerdict } from '../../pipeline/decide/decide.ts'
import { startLateLane } from '../../pipeline/late-lane.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { commitMessage } from '../support/commit-message.ts'
import { believed, idsOf, partition, startMs } from '../support/decided.ts'
import { testNats } from '../support/nats.ts'

test('a repeat is a duplicate, although its verdict was not stored when the process was killed', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using resources = new AsyncDisposableStack()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const [sensor] = idsOf(1)
  const late = believed({ sensor: sensor!, timeMs: startMs })
  const newer = { ...late, timeMs: startMs + minuteMs, seq: seqOf(partition, 1) }
  const first = await commitMessage(nc, {
    partition,
    nLast: 1,
    readings: [newer],
    deferred: [late],
  })
  const repeat = await commitMessage(nc, { partition, nLast: 1, deferred: [late] })
  const accepted = { ...late, seq: seqOf(partition, 2) }
  const verdict = await commitMessage(nc, {
    partition,
    nLast: 2,
    readings: [accepted],
    lateTo: first,
  })

  // the store takes what is waited for, and nothing after it
  let storedTo = first
  const stop = new AbortController()
  resources.defer(() => stop.abort())
  const submitted = await new Promise<readonly LateVerdict[]>((resolve, reject) => {
    startLateLane({
      nc,
      partition,
      lateTo: first,
      lastSeq: verdict,
      existing: async (keys) => keys.map(() => (storedTo >= verdict ? accepted : undefined)),
      isRefusedKey: () => false,
      stored: async (seq) => {
        storedTo = Math.max(storedTo, seq)
      },
      submit: async (verdicts, lateTo) => {
        expect(lateTo).toBe(repeat)
        resolve(verdicts)
        return verdict + 1
      },
      onFailure: reject,
      pause: async () => undefined,
      stop: stop.signal,
    })
  })
  expect(submitted.map((one) => one.verdict)).toEqual(['duplicate'])
})
