/**
 * The clock for due times: starts at the wall clock and only moves forward. A wall clock set back
 * by an hour must not delay everything by an hour, so it also starts no earlier than the ledger's
 * last message.
 * @param leastMs the broker's time of the ledger's last message
 */
export function steadyClock(leastMs: number, wallMs: () => number, monotonicMs: () => number) {
  const startMs = Math.max(wallMs(), leastMs)
  const offsetMs = startMs - monotonicMs()
  return (): number => Math.floor(offsetMs + monotonicMs())
}
