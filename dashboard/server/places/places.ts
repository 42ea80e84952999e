/** What the server knows of places, areas and readings for the pages that it writes. */
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIsoMs } from '../../../core/iso-time.ts'
import { type PublicReason, publicReason } from '../../../core/state/why-silent.ts'
import { minuteMs, secondMs } from '../../../core/time.ts'
import type { SensorSilence } from '../../../operate/sensor-access.ts'
import type { PlaceNow } from '../../place-now.ts'
import type { AskApi } from './ask-api.ts'
import { type AreaNow, askAreas } from './ask-areas.ts'
import {
  askPlace,
  isSilent,
  type PlaceKey,
  type SensorAnswer,
  type SilentSensor,
  silentSensor,
} from './ask-places.ts'
import { keepAnswers } from './kept.ts'
import { followOurOutage } from './our-outage.ts'
import { readSilence } from './silence.ts'
import { openUsual } from './usual.ts'

export type { AreaNow } from './ask-areas.ts'

/** `unknown`: there is no such thing. `away`: the API does not answer. */
export type Seen<T> = T | 'unknown' | 'away'

/** One reading, of which there is a proof. */
export type ReadingNow = {
  readonly sensor_id: string
  readonly timestamp: string
  readonly pm25: number | null
  readonly pm10: number | null
  readonly aqi: number | null
}

/** `network`: of the client, for fair turns at the API. */
export type Places = {
  readonly look: (key: PlaceKey, network: string) => Promise<Seen<PlaceNow>>
  readonly areas: (network: string) => Promise<readonly AreaNow[] | 'away'>
  readonly reading: (id: string, timeMs: number, network: string) => Promise<Seen<ReadingNow>>
  /** Why a sensor does not report, for operators; null: it does. */
  readonly silence: (id: string, network: string) => Promise<SensorSilence | null>
}

type Options = {
  readonly nc: NatsConnection
  readonly ask: AskApi
  /** The name of the whole network. */
  readonly city: string
  readonly timezone: string
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

export function openPlaces({ nc, ask, city, timezone, nowMs, onFailure }: Options): Places {
  const shared = { waitMs: 3 * secondMs, nowMs, onFailure }
  const usual = openUsual({ ask, timezone, nowMs, onFailure })
  const ours = followOurOutage(nc, { nowMs, onFailure })
  const places = keepAnswers<PlaceNow | 'unknown'>({
    ...shared,
    freshMs: 20 * secondMs,
    keptMs: 5 * minuteMs,
    most: 1_000,
  })
  const areas = keepAnswers<readonly AreaNow[]>({
    ...shared,
    freshMs: minuteMs,
    keptMs: 10 * minuteMs,
    most: 1,
  })
  const readings = keepAnswers<ReadingNow | 'unknown'>({
    ...shared,
    freshMs: minuteMs,
    keptMs: minuteMs,
    most: 500,
  })
  const look: Places['look'] = async (key, network) =>
    await places(key.kind === 'city' ? '' : `${key.kind} ${key.id}`, async () => {
      const why = async (sensor: SilentSensor): Promise<PublicReason> =>
        publicReason((await silenceOf(sensor, network)).reason)
      const asking = { ask, network, city, timezone, nowMs: nowMs(), why, usual }
      return (await askPlace(key, asking)) ?? 'unknown'
    })
  const silenceOf = async (
    { area, ...sensor }: SilentSensor,
    network: string,
  ): Promise<SensorSilence> => {
    const known = async (key: PlaceKey): Promise<PlaceNow | undefined> => {
      const place = await look(key, network)
      return typeof place === 'string' ? undefined : place
    }
    const places = Promise.all([known({ kind: 'city' }), known({ kind: 'area', id: area })])
    return await readSilence(nc, { ...sensor, places, ours: ours(), nowMs: nowMs() })
  }
  return {
    look,
    silence: async (id, network) => {
      const path = `/v1/sensors/${encodeURIComponent(id)}/status`
      const sensor = await ask<SensorAnswer>(path, network)
      if (sensor === undefined || !isSilent(sensor)) return null
      return await silenceOf(silentSensor(sensor), network)
    },
    areas: async (network) => await areas('', async () => await askAreas(ask, network, nowMs())),
    reading: async (id, timeMs, network) =>
      await readings(`${id} ${timeMs}`, async () => {
        const query = new URLSearchParams({
          sensor_id: id,
          start_time: formatIsoMs(timeMs),
          end_time: formatIsoMs(timeMs + 1),
          limit: '1',
        })
        const page = await ask<{ readonly readings: readonly ReadingNow[] }>(
          `/v1/readings?${String(query)}`,
          network,
        )
        return page?.readings[0] ?? 'unknown'
      }),
  }
}
