/** From the task of neighbours to the workers of the partitions, in whichever process they are. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { partitionCount, partitionOf } from '../../core/air/sensor-id.ts'
import { rulesNow } from '../../core/state/quality-rules.ts'
import type { Unlike } from '../../core/state/unlike-neighbours.ts'
import { type NeighbourReport, parseNeighbourReport } from '../../schemas/log/neighbour-report.ts'
import { neighboursSubject, partitionOfNeighbours } from '../../schemas/subjects.ts'

/** Of a partition in one message, which then has at most 0.7 MB; more are not flagged. */
export const mostUnlike = 1_000

export type Judged = {
  readonly endMs: number
  readonly readingsTo: number
  readonly unlike: readonly Unlike[]
}

/** @returns how many were left out */
export function reportNeighbours(
  nc: NatsConnection,
  { endMs, readingsTo, unlike }: Judged,
): number {
  const byPartition = Map.groupBy(unlike, ({ sensor }) => partitionOf(sensor))
  let left = 0
  for (let partition = 0; partition < partitionCount; partition++) {
    const all = byPartition.get(partition) ?? []
    const report: NeighbourReport = {
      rules: rulesNow,
      endMs,
      readingsTo,
      unlike: all.slice(0, mostUnlike),
    }
    left += all.length - report.unlike.length
    nc.publish(neighboursSubject(partition), JSON.stringify(report))
  }
  return left
}

/** The newest report for each partition, until its worker has committed what differs. */
export type NeighbourBoard = Disposable & {
  readonly newest: (partition: number) => NeighbourReport | undefined
  /** It is committed; a report that came meanwhile stays. */
  readonly done: (partition: number, report: NeighbourReport) => void
}

export function followNeighbours(nc: NatsConnection): NeighbourBoard {
  const waiting = new Map<number, NeighbourReport>()
  const endMs = new Map<number, number>()
  const take = (error: Error | null, message: Msg): void => {
    const report = error === null ? parseNeighbourReport(message.string()) : undefined
    const partition = partitionOfNeighbours(message.subject)
    // a process that lost the task without noticing may report what is past
    if (report === undefined || report.endMs < (endMs.get(partition) ?? -Infinity)) return
    endMs.set(partition, report.endMs)
    waiting.set(partition, report)
  }
  const subscription = nc.subscribe(neighboursSubject('*'), { callback: take })
  return {
    newest: (partition) => waiting.get(partition),
    done: (partition, report) => {
      if (waiting.get(partition) === report) waiting.delete(partition)
    },
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}
