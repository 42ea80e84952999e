/** What a check found, in words for a person. */
import { inWords } from '../../runtime/exit.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'

/** `broken`: something does not work, or will not; `skipped`: what it needs does not answer. */
export type Level = 'ok' | 'warning' | 'broken' | 'skipped'

export type Finding = {
  readonly level: Level
  readonly what: string
  /** What to do; absent where `what` says it already, or nothing is to be done. */
  readonly fix?: string
}

export const ok = (what: string): Finding => ({ level: 'ok', what })
export const warning = (what: string, fix?: string): Finding => found('warning', what, fix)
export const broken = (what: string, fix?: string): Finding => found('broken', what, fix)
export const skipped = (what: string): Finding => ({ level: 'skipped', what })

const found = (level: Level, what: string, fix?: string): Finding =>
  fix === undefined ? { level, what } : { level, what, fix }

/** Our own errors say what to do. */
export function brokenBy(error: unknown): Finding {
  if (error instanceof StoreUnavailable)
    return broken(error.message, 'check INFLUX_URL, and whether the server runs')
  return broken(error instanceof StoreMisconfigured ? error.message : inWords(error))
}

/** `ok`, unless something else was found. */
export const orOk = (findings: readonly Finding[], what: string): readonly Finding[] =>
  findings.some(({ level }) => level !== 'ok') ? findings : [...findings, ok(what)]
