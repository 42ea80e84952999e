/**
 * Verdicts on neighbours, decided again: the log up to the message that each names, and the sensors that
 * it names, must give it. Which sensors were near, outdoors and in use at that time is the registry's word
 * of then, so another choice of neighbours is not found. A verdict that ends one claims nothing.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Findings } from '../../anchor/audit/findings.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { NeighbourVerdict } from '../../core/state/log-message.ts'
import { createTwoHours, keepReading, meanOf, type TwoHours } from '../../core/state/two-hours.ts'
import { isUnlike } from '../../core/state/unlike-neighbours.ts'
import { futureToleranceMs } from '../../core/time.ts'
import { type RegisteredSensor, sinceAt } from '../../schemas/devices/registered-sensor.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { storedLog } from './stored-log.ts'

type SensorOf = (sensor: SensorId) => RegisteredSensor | undefined

/** Held in memory; more are counted. */
const mostVerdicts = 100_000

/** @returns in words, how many were decided again */
export async function checkNeighbours(
  nc: NatsConnection,
  sensorOf: SensorOf,
  findings: Findings,
): Promise<readonly string[]> {
  const manager = await jetstreamManager(nc)
  const { first_seq: first, first_ts: since } = (await manager.streams.info(readingsStream)).state
  const { verdicts, more } = await verdictsIn(nc)
  if (verdicts.length === 0) return []
  // of a log that was trimmed the first hours are not whole
  const state = createTwoHours(first > 1 ? Date.parse(since) + futureToleranceMs : -Infinity)
  const [fromMs, count] = [state.judgedMs, verdicts.length]
  let [left, next] = [more, 0]
  const checkBefore = (seq: number): void => {
    for (; next < verdicts.length; next++) {
      const verdict = verdicts[next]
      if (verdict === undefined || verdict.readingsTo >= seq) return
      if (verdict.endMs <= fromMs) left++
      else report(faultOf(state, verdict, sensorOf), verdict, findings)
    }
  }
  for await (const { seq, message } of storedLog(nc, 1)) {
    checkBefore(seq)
    for (const reading of message.readings) keepReading(state, reading)
  }
  checkBefore(Infinity)
  const again = `${count + more - left} verdicts on neighbours were decided again from the log`
  return [left === 0 ? again : `${again}, ${left} were not: it does not hold their two hours`]
}

function report(
  fault: string | undefined,
  { sensor, endMs }: NeighbourVerdict,
  findings: Findings,
): void {
  if (fault !== undefined)
    findings.add('rules', undefined, `${sensor} at ${formatIso(endMs)}: ${fault}`)
}

/** What the log says of sensors that are unlike their neighbours, in the order in which it was decided. */
async function verdictsIn(nc: NatsConnection): Promise<{
  readonly verdicts: NeighbourVerdict[]
  readonly more: number
}> {
  const verdicts: NeighbourVerdict[] = []
  let more = 0
  for await (const { message } of storedLog(nc, 1)) {
    for (const verdict of message.neighbours ?? []) {
      if (verdict.among.length === 0) continue
      if (verdicts.length < mostVerdicts) verdicts.push(verdict)
      else more++
    }
  }
  verdicts.sort((a, b) => a.readingsTo - b.readingsTo)
  return { verdicts, more }
}

function faultOf(
  state: TwoHours,
  { sensor, endMs, among }: NeighbourVerdict,
  sensorOf: SensorOf,
): string | undefined {
  const meanAt = (id: SensorId): number | undefined => {
    const registered = sensorOf(id)
    return meanOf(
      state,
      id,
      endMs,
      registered === undefined ? -Infinity : sinceAt(registered, endMs),
    )
  }
  const own = meanAt(sensor)
  const others = among.flatMap((id) => meanAt(id) ?? [])
  if (own === undefined || others.length < among.length)
    return 'the log says that it is unlike its neighbours, but does not have two hours of each of them'
  return isUnlike(own, others)
    ? undefined
    : 'the log says that it is unlike its neighbours, and its readings do not'
}
