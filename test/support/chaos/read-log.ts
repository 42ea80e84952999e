/** The READINGS log as it is, and what must hold for it whatever was killed. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { nOfSeq, type Reading } from '../../../core/air/reading.ts'
import { partitionCount } from '../../../core/air/sensor-id.ts'
import type { LogMessage, Refused } from '../../../core/state/log-message.ts'
import { followLog } from '../../../runtime/nats/follow-log.ts'
import { rawStream, readingsStream } from '../../../schemas/subjects.ts'
import { eventually } from '../eventually.ts'

export type Logged = { readonly seq: number; readonly message: LogMessage }

/** Every message of the log up to its present end. */
export async function readLog(nc: NatsConnection): Promise<readonly Logged[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(readingsStream)
  const logged: Logged[] = []
  if (state.messages === 0) return logged
  await using log = await followLog(nc, { fromSeq: 1 })
  for await (const { seq, message } of log) {
    if (message !== undefined) logged.push({ seq, message })
    if (seq >= state.last_seq) break
  }
  return logged
}

export type LogAccount = {
  readonly accepted: readonly Reading[]
  readonly deferred: number
  readonly duplicates: number
  readonly refused: readonly (Refused & { readonly partition: number })[]
  readonly events: number
  /** Raw messages (of one reading each) that have exactly one outcome. */
  readonly settled: number
}

export function accountOf(logged: readonly Logged[]): LogAccount {
  const messages = logged.map(({ message }) => message)
  const accepted = messages.flatMap(({ readings }) => readings)
  const refused = messages.flatMap((message) =>
    message.refused.map((one) => ({ ...one, partition: message.partition })),
  )
  const sum = (count: (message: LogMessage) => number): number =>
    messages.reduce((total, message) => total + count(message), 0)
  const duplicates = sum((message) => message.duplicates.reduce((all, [, count]) => all + count, 0))
  const final = refused.filter(({ reason }) => reason !== 'partial').length
  return {
    accepted,
    deferred: sum(({ deferred }) => deferred.length),
    duplicates,
    refused,
    events: sum(({ events }) => events.length),
    settled: accepted.length + duplicates + final,
  }
}

/** How many messages the RAW streams ever accepted. */
export async function rawTotal(nc: NatsConnection): Promise<number> {
  const manager = await jetstreamManager(nc)
  const infos = await Promise.all(
    Array.from({ length: partitionCount }, (_, p) => manager.streams.info(rawStream(p))),
  )
  return infos.reduce((sum, { state }) => sum + state.last_seq, 0)
}

/** Waits until every raw message (of one reading each) has its outcome in the log. */
export async function untilJudged(nc: NatsConnection): Promise<LogAccount> {
  const total = await rawTotal(nc)
  let account: LogAccount | undefined
  const missing = (): string =>
    `${total} raw messages have their outcome (now ${account?.settled}, deferred ${account?.deferred})`
  try {
    return await eventually(
      'all are judged',
      async () => {
        account = accountOf(await readLog(nc))
        return account.settled >= total && account
      },
      { everyMs: 250, progress: () => account?.settled ?? 0 },
    )
  } catch (cause) {
    throw new Error(missing(), { cause })
  }
}

/** What is wrong with the numbers and the order of a log; undefined if nothing is. */
export function faultsOf(logged: readonly Logged[]): string[] {
  const faults: string[] = []
  const lastN = new Map<number, number>()
  const keys = new Set<string>()
  for (const { seq, message } of logged) {
    const { partition } = message
    for (const reading of message.readings) {
      const n = nOfSeq(reading.seq)
      const before = lastN.get(partition) ?? 0
      if (n !== before + 1) faults.push(`message ${seq}: n ${n} after ${before} in ${partition}`)
      lastN.set(partition, n)
      const key = `${reading.sensor} ${reading.timeMs}`
      if (keys.has(key)) faults.push(`message ${seq}: ${key} was accepted twice`)
      keys.add(key)
    }
    const last = lastN.get(partition) ?? 0
    if (message.nLast !== last) faults.push(`message ${seq}: says n ${message.nLast}, is ${last}`)
  }
  return faults
}
