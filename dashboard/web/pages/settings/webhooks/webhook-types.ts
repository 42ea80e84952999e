/** What `/data/v1/webhooks…` answers and takes (docs/api.md). */
import type { EventKind } from '../../../../../core/delivery/delivery.ts'

export type Filters = {
  readonly sensor_id?: string
  readonly area?: string
  readonly aqi_threshold?: number
}

export type Webhook = {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly events: readonly EventKind[]
  readonly filters: Filters
  readonly active: boolean
  readonly paused: boolean
  /** Its account is no longer premium. */
  readonly suspended?: boolean
  readonly disabled: {
    readonly reason: 'gone' | 'failing' | 'operator'
    readonly at: string
    readonly detail?: string
  } | null
  /** During a rotation: until when the former secret signs too. */
  readonly previous_secret_until: string | null
  readonly created_at: string
}

export type Made = Webhook & { readonly secret: string; readonly armed_now: boolean }
export type Rotated = Webhook & { readonly secret: string }

export type Outcome = 'delivered' | 'retry' | 'dead' | 'disabled' | 'cancelled'
type Headers = readonly (readonly [string, string])[]

/** A row of the log. */
export type Tried = {
  readonly id: string
  readonly key: string
  readonly event: EventKind
  readonly trigger: string
  readonly attempt: number
  readonly at: string
  readonly outcome: Outcome
  readonly error: string | null
  readonly error_detail: string | null
  readonly next_attempt_at: string | null
  readonly response_status: number | null
  readonly duration_ms: number | null
}

/** A row of the waiting deliveries, or of those given up. */
export type Waiting = {
  readonly id: string | null
  readonly key: string
  readonly event: EventKind
  readonly trigger: string
  readonly state: 'pending' | 'in_flight' | 'dead'
  readonly attempts: number
  readonly due_at: string | null
}

export type Page<Row> = { readonly deliveries: readonly Row[]; readonly next_cursor: string | null }
export type WaitingPage = Page<Waiting> & { readonly total: number; readonly is_behind: boolean }

export type Attempt = Omit<Tried, 'id' | 'key' | 'event' | 'response_status' | 'duration_ms'> & {
  readonly request: {
    readonly url: string
    readonly address: string | null
    readonly headers: Headers
    readonly body_bytes: number
    readonly body: string
  }
  readonly response: {
    readonly status: number
    readonly headers: Headers
    readonly body: string
    readonly body_encoding: 'utf8' | 'base64'
    readonly truncated: boolean
  } | null
  readonly timings_ms: Readonly<
    Record<'resolve' | 'connect' | 'first_byte' | 'total', number | null>
  >
}

export type Delivery = {
  readonly id: string | null
  readonly key: string
  readonly event: EventKind
  readonly state: 'pending' | 'in_flight' | 'delivered' | 'dead' | 'disabled' | 'cancelled'
  readonly due_at: string | null
  readonly attempts: readonly Attempt[]
}

export type Wanted = {
  readonly url: string
  readonly description?: string | null
  readonly events: readonly EventKind[]
  readonly filters: Readonly<Record<keyof Filters, string | number | null>> | Filters
}
