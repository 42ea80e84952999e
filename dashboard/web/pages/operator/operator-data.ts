/** What `/operator/api/…` answers. */
export type Partition = {
  readonly partition: number
  readonly raw: number
  readonly unjudged: number
  readonly accepted: number
  readonly log_seq: number
  readonly log_time: string | null
  readonly unstored: number
  readonly worker: string | null
}

type Stream = { readonly last_seq: number; readonly messages: number; readonly bytes: number }

export type Status = {
  readonly rates: { readonly raw: number; readonly accepted: number }
  readonly readings: Stream
  readonly events: Stream
  readonly rejected: Stream
  readonly sensors: Readonly<Record<'registered' | 'online' | 'offline' | 'unheard', number>>
  readonly webhooks: Readonly<
    Record<'shards' | 'silent' | 'pending' | 'dead' | 'in_breaker' | 'oldest_due_seconds', number>
  >
  readonly anchor: {
    readonly last: { readonly batch: number; readonly anchored_at: string } | null
    readonly not_anchored: number
  }
  readonly lags: {
    readonly statistics: number | null
    readonly unmatched: number | null
    readonly mails: number
  }
  readonly partitions: readonly Partition[]
}

export type Sensor = {
  readonly id: string
  readonly area: string
  readonly address: string
  readonly lat: number
  readonly lon: number
  readonly cadence_seconds: number
  readonly state: 'unheard' | 'online' | 'held' | 'offline'
  readonly last_reading: string | null
  readonly aqi: number | null
}

export type SensorPage = {
  readonly total: number
  readonly next: string | null
  readonly sensors: readonly Sensor[]
}

export type Rejected = {
  readonly id: string
  readonly reason: string
  readonly sensor: string
  readonly why: string
  readonly arrived: string
  readonly length: number
  readonly sha256: string
}

export type RejectedPage = {
  readonly counts: Readonly<Record<string, number>>
  readonly rejected: readonly Rejected[]
}

export type RejectedBody = Rejected & {
  readonly kept_bytes: number
  readonly truncated: boolean
  readonly body: string
  readonly body_encoding: 'utf8' | 'base64'
}

export type Again = Readonly<Record<'replayed' | 'truncated' | 'unsendable' | 'gone', number>>

export type Batch = {
  readonly index: number
  readonly count: number | null
  readonly first: number
  readonly last: number
  readonly sealed_at: string
  readonly state: 'closing' | 'sealed' | 'sent' | 'mined' | 'final'
  readonly tx: string | null
  readonly block: number | null
  readonly block_time: string | null
}

export type Anchors = {
  readonly deployment: { readonly chainId: number; readonly contract: string } | null
  readonly checked: { readonly index: number; readonly block: number; readonly at: string } | null
  readonly batches: readonly Batch[]
}

export type AccountRow = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly organization: string | null
  readonly tier: 'free' | 'premium'
  readonly role: 'user' | 'operator'
  readonly created_at: string
  readonly confirmed_at: string | null
}
