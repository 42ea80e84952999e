/**
 * The clock that due times are told by: the wall clock when it was made, then only forward. A wall
 * clock set back an hour must not hold everything for an hour, so it also begins no earlier than
 * what the ledger has seen.
 * @param leastMs the broker's time of the ledger's last message
 */
export function steadyClock(leastMs: number, wallMs: () => number, monotonicMs: () => number) {
  const startMs = Math.max(wallMs(), leastMs)
  const offsetMs = startMs - monotonicMs()
  return (): number => Math.floor(offsetMs + monotonicMs())
}
