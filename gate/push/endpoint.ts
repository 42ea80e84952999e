import type { BodyForm } from './read-body.ts'

export type PushRequest = {
  /** The id that the credential belongs to: a sensor's, or an application's. */
  readonly caller: string
  /** What was sent, as the endpoint parses it. */
  readonly body: unknown
  /** The same, not parsed. */
  readonly text: string
  /** Undefined where it was not sent. */
  readonly header: (name: string) => string | undefined
  readonly query: (name: string) => string | undefined
}

export type Outgoing = {
  /** Whose subject it goes to: the sensor, or the gateway, where the body names the sensors. */
  readonly sender: string
  /** Absent: the sensor's. */
  readonly partition?: number
  /** JSON of one raw message. */
  readonly body: string
  readonly readings: number
}

/** What becomes of a request whose caller is known. */
export type Prepared = {
  /** None: sound, but there is nothing in it to store. */
  readonly messages: readonly Outgoing[]
  /** Those that made contact, for the book of last contacts. */
  readonly sensors: readonly string[]
  /** What the caller receives in addition to the number stored. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** One address of `/push/…`. */
export type Endpoint = {
  readonly name: string
  readonly caller: 'sensor' | 'application'
  readonly body: BodyForm
  /** Its devices store nothing themselves, so we do while NATS takes nothing. */
  readonly keeps: boolean
  /** @throws PushError */
  readonly prepare: (request: PushRequest) => Prepared
}

/** What every endpoint needs to judge a reading. */
export type Judging = {
  readonly nowMs: () => number
  /** No reading is older than this, ms since the epoch. */
  readonly earliestMs: number
  /** A time for what has none, never the same twice for a sensor; ms since the epoch. */
  readonly arrival: (sensor: string) => number
}
