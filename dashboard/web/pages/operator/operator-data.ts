import type { Rejected } from '../../../../operate/rejected-messages.ts'
import type { StageLags } from '../../../../operate/stage-lags.ts'
import type { StatusReport } from '../../../../operate/status-report.ts'

/** What `/operator/api/…` answers, where the type is not in `operate/`. */
export type Status = StatusReport & { readonly lags: StageLags }

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

export type SensorDetails = Sensor & {
  readonly sites: readonly {
    readonly from: string
    readonly area: string
    readonly address: string
    readonly lat: number
    readonly lon: number
  }[]
  readonly receipts?: boolean
  readonly make?: string
  readonly model?: string
  readonly height_m?: number
  readonly owner?: string
  readonly licence?: string
}

export type SensorPage = {
  readonly total: number
  readonly next: string | null
  readonly sensors: readonly Sensor[]
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
