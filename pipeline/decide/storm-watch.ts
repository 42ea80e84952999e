import type { Status } from '../../core/state/presence.ts'
import { judgeSilence, type Storm, stormAfterRestart } from '../../core/state/storm.ts'

/** One storm for all partitions of a process: they see one network fail. */
export type StormWatch = {
  /** How many sensors of a partition have each status; at every tick, the first before any judging. */
  readonly report: (partition: number, counts: Readonly<Record<Status, number>>) => void
  readonly forget: (partition: number) => void
  /** What to do with sensors of a partition just found silent; its last report still counted them. */
  readonly judge: (partition: number, newlySilent: number, nowMs: number) => 'report' | 'hold'
}

/** @param onBegin receives how many sensors fell silent, in all partitions and within the window */
export function createStormWatch(onBegin: (silent: number) => void): StormWatch {
  const counts = new Map<number, Readonly<Record<Status, number>>>()
  let storm: Storm | undefined
  const total = (status: Status): number =>
    [...counts.values()].reduce((sum, one) => sum + one[status], 0)

  return {
    report: (partition, of) => void counts.set(partition, of),
    forget: (partition) => void counts.delete(partition),
    judge: (partition, newlySilent, nowMs) => {
      const before = storm ?? stormAfterRestart(total('held'), nowMs)
      const verdict = judgeSilence(before, newlySilent, total('online'), nowMs)
      storm = verdict.storm
      // other partitions are judged before this one reports again, and must not count them twice
      const reported = counts.get(partition)
      if (reported !== undefined) {
        counts.set(partition, { ...reported, online: reported.online - newlySilent })
      }
      if (verdict.began) onBegin(storm.falls.reduce((sum, { count }) => sum + count, 0))
      return verdict.verdict
    },
  }
}
