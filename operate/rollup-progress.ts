/**
 * Which area-hours may be read from the roll-ups? The statistics job records up to which sequence
 * of READINGS it has read and which hours of these are still to be written; later messages were
 * seen by this process itself.
 */

import { wholeNetwork } from '../core/air/area.ts'
import type { Reading } from '../core/air/reading.ts'
import { dayMs, floorTo, hourMs } from '../core/time.ts'
import { statRules } from '../store/stat-fields.ts'
import type { BucketSize } from '../store/store.ts'

export type RollupRecord = {
  readonly position: number
  readonly dirty: readonly AreaStep[]
  readonly dirtyDays: readonly AreaStep[]
  /** From there on the hours and days of sensors are written; absent: none are known to be. */
  readonly sensorsFromMs?: number
}

type AreaStep = readonly [area: string, startMs: number]

export type RollupProgress = {
  /** Readings of a READINGS message, in any order, whether seen before or not. */
  readonly note: (seq: number, readings: readonly Pick<Reading, 'area' | 'timeMs'>[]) => void
  readonly record: (record: RollupRecord | undefined) => void
  /** Up to where the job has read; 0: it never has. */
  readonly position: () => number
  /**
   * The starts of hours or days that differ from the roll-ups, or may; 'all' if no job has ever
   * run, or more hours were touched than we count.
   */
  readonly unwritten: (area: string, size: BucketSize) => ReadonlySet<number> | 'all'
  /** Before this no hour or day of a sensor may be read; Infinity: none at all. */
  readonly sensorsFromMs: () => number
}

/** A year of late hours in ten areas; beyond that every hour counts as unknown. */
const mostTouched = 100_000

export function createRollupProgress(): RollupProgress {
  /** Area → hour → the newest sequence that touched it. */
  let touched = new Map<string, Map<number, number>>()
  let count = 0
  let lostUpTo = 0
  let current: RollupRecord | undefined
  const dirty: Readonly<Record<BucketSize, Map<string, Set<number>>>> = {
    hour: new Map(),
    day: new Map(),
  }

  const touch = (area: string, hourStartMs: number, seq: number): void => {
    let hours = touched.get(area)
    if (hours === undefined) touched.set(area, (hours = new Map()))
    if (!hours.has(hourStartMs)) count++
    hours.set(hourStartMs, Math.max(seq, hours.get(hourStartMs) ?? 0))
  }

  const forgetRead = (position: number): void => {
    for (const [area, hours] of touched) {
      for (const [hour, seq] of hours) {
        if (seq > position) continue
        hours.delete(hour)
        count--
      }
      if (hours.size === 0) touched.delete(area)
    }
  }

  return {
    note: (seq, readings) => {
      if (current !== undefined && seq <= current.position) return
      for (const { area, timeMs } of readings) touch(area, floorTo(timeMs, hourMs), seq)
      if (count <= mostTouched) return
      touched = new Map()
      count = 0
      lostUpTo = seq
    },
    record: (record) => {
      current = record
      fill(dirty.hour, record?.dirty ?? [])
      fill(dirty.day, record?.dirtyDays ?? [])
      if (record !== undefined) forgetRead(record.position)
    },
    position: () => current?.position ?? 0,
    sensorsFromMs: () => current?.sensorsFromMs ?? Number.POSITIVE_INFINITY,
    unwritten: (area, size) => {
      if (current === undefined || lostUpTo > current.position) return 'all'
      const isNetwork = area === wholeNetwork
      const recorded = isNetwork ? dirty[size].values() : [dirty[size].get(area) ?? []]
      const seen = isNetwork ? touched.values() : [touched.get(area) ?? new Map<number, number>()]
      const starts = new Set<number>()
      for (const steps of recorded) for (const start of steps) starts.add(start)
      for (const hours of seen) {
        for (const hour of hours.keys()) starts.add(size === 'hour' ? hour : floorTo(hour, dayMs))
      }
      return starts
    },
  }
}

function fill(into: Map<string, Set<number>>, steps: readonly AreaStep[]): void {
  into.clear()
  for (const [area, start] of steps) into.set(area, (into.get(area) ?? new Set()).add(start))
}

/** @returns undefined for a value that is not a record: then the roll-ups are not used */
export function parseRollupRecord(value: unknown): RollupRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const {
    position,
    dirty,
    dirtyDays,
    sensorsFromMs,
    rules,
  }: Partial<Record<keyof RollupRecord | 'rules', unknown>> = value
  if (typeof position !== 'number' || !isSteps(dirty) || !isSteps(dirtyDays)) return undefined
  return {
    position,
    dirty,
    dirtyDays,
    // what other rules made is not read, and is made again
    ...(typeof sensorsFromMs === 'number' && rules === statRules ? { sensorsFromMs } : {}),
  }
}

const isSteps = (value: unknown): value is readonly AreaStep[] =>
  Array.isArray(value) &&
  value.every(
    (entry) => Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number',
  )
