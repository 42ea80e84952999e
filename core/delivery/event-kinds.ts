/**
 * The one table of the kinds of events. Everything that lists kinds derives from these rows: the
 * ledger's numbers, what is urgent, the source of each, the names in schemas, documents and pages.
 * `docs/how-to/add-an-event-kind.md` lists the steps for a new one.
 */
import { criticalAqi, defaultAqiThreshold } from '../air/thresholds.ts'

/**
 * The ledger has three bits for the kind, so there are eight numbers. A ninth kind needs a new
 * version of the ledger's records: their byte 1 has four unused bits.
 */
type LedgerNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** The format level (`schemas/format-level.ts`) from which on every process knows the row. */
type Level = 1 | 2

type SourceRow = {
  /** The header of a ledger message that carries the source's cursor: up to where it is matched. */
  readonly header: string
  /** Byte 1 of a hook record: the webhook must read the source again from a sequence on. */
  readonly behindOp: number
  /**
   * Its sequences are those of READINGS, which must keep the messages of deliveries that wait and
   * those that are not matched yet (`needed.notifier.*`).
   */
  readonly holdsReadings: boolean
  /** Followed even while no webhook subscribes to one of its kinds, so its cursor always has a value. */
  readonly isAlwaysFollowed: boolean
  readonly level: Level
}

/** The sources of events, in the order in which a webhook catches up with them. Numbers never change. */
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
  /** The log again, up to the last reading whose batch is final on the chain. */
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
  /** Sent before others: people's health, or a sensor that needs attention. */
  readonly isUrgent: boolean
  readonly level: Level
  /** A description for people who choose. */
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
  'sensor.quality': {
    number: 6,
    source: 'events',
    isUrgent: false,
    // as the level before: level 3, from which on it happens, comes with the same version
    level: 2,
    words: 'The readings of a sensor become suspect, fail, or good again',
  },
} as const satisfies Record<string, EventKindRow>
