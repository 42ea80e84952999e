/**
 * The kinds of events, once. Everything else that lists kinds derives from these rows: the ledger's
 * numbers, what is urgent, which source brings them, the names in schemas, documents and pages.
 * `docs/how-to/add-an-event-kind.md` names what belongs to a new one.
 */
import { criticalAqi, defaultAqiThreshold } from '../air/thresholds.ts'

/**
 * The ledger has three bits for the kind, so there are eight numbers. A ninth kind needs a new
 * version of the ledger's records: their byte 1 has four bits that are not in use.
 */
type LedgerNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** The format level (`schemas/format-level.ts`) from which on every process knows the row. */
type Level = 1 | 2

type SourceRow = {
  /** The header of a ledger message that says how far the source is matched. */
  readonly header: string
  /** What a hook record says in byte 1: the webhook is to read the source again from a sequence on. */
  readonly behindOp: number
  /**
   * Its sequences are those of READINGS. What waits for it, or is not matched yet, is kept there
   * (`needed.notifier.*`).
   */
  readonly holdsReadings: boolean
  /** Followed also while no webhook wants one of its kinds, so its cursor always has a value. */
  readonly isAlwaysFollowed: boolean
  readonly level: Level
}

/** Where events come from, in the order in which they are caught up with. Numbers never change. */
export const sourceRows = {
  /** Copies in EVENTS of what the pipeline decided. */
  events: {
    header: 'Dw-Events',
    behindOp: 2,
    holdsReadings: false,
    isAlwaysFollowed: true,
    level: 1,
  },
  /** The log itself. */
  readings: {
    header: 'Dw-Readings',
    behindOp: 3,
    holdsReadings: true,
    isAlwaysFollowed: false,
    level: 1,
  },
  /** The log again, up to where the chain holds it for good. */
  anchored: {
    header: 'Dw-Anchored',
    behindOp: 5,
    holdsReadings: true,
    isAlwaysFollowed: false,
    level: 2,
  },
} as const satisfies Record<string, SourceRow>

type EventKindRow = {
  /** In the ledger's records; never changes. */
  readonly number: LedgerNumber
  readonly source: keyof typeof sourceRows
  /** It overtakes what is not: someone's health, or a sensor that needs attention. */
  readonly isUrgent: boolean
  readonly level: Level
  /** What it tells, for people who choose. */
  readonly words: string
}

export const eventKindRows = {
  'aqi.high': {
    number: 0,
    source: 'events',
    isUrgent: false,
    level: 1,
    words: `The index rises above your threshold (${defaultAqiThreshold} unless you name one)`,
  },
  'aqi.critical': {
    number: 1,
    source: 'events',
    isUrgent: true,
    level: 1,
    words: `The index rises above ${criticalAqi}`,
  },
  'sensor.offline': {
    number: 2,
    source: 'events',
    isUrgent: true,
    level: 1,
    words: 'A sensor falls silent',
  },
  'sensor.online': {
    number: 3,
    source: 'events',
    isUrgent: true,
    level: 1,
    words: 'A sensor comes back',
  },
  'reading.new': {
    number: 4,
    source: 'readings',
    isUrgent: false,
    level: 1,
    words: 'Every new reading: many',
  },
  'reading.anchored': {
    number: 5,
    source: 'anchored',
    isUrgent: false,
    level: 2,
    words: 'Every reading once its proof is final: many',
  },
} as const satisfies Record<string, EventKindRow>
