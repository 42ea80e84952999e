/**
 * The webhook that a body requests, judged against the network as it is: its address, sensor,
 * area.
 */

import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { type EventKind, eventKinds, levelOfKind } from '../../core/delivery/delivery.ts'
import { judgeWebhookUrl, type UrlFault } from '../../core/delivery/webhook-url.ts'
import { secondMs } from '../../core/time.ts'
import type { PublicResolver } from '../../runtime/http/public-resolver.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import type { WebhookFilters } from '../../schemas/webhooks/webhook.ts'
import { type WrongField, wrongField } from '../../schemas/webhooks/webhook-bodies.ts'
import type { Area, AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { invalidBody } from './webhook-error.ts'

type Requested = {
  readonly url?: string
  readonly events?: readonly EventKind[]
  readonly filters?: WebhookFilters
}
export type Wanted = { readonly url?: string; readonly filters?: WebhookFilters }

/**
 * @param wrong fields that are wrong already: they are named too
 * @throws ApiError 400 that names every wrong field
 */
export type JudgeWanted = (requested: Requested, wrong?: readonly WrongField[]) => Promise<Wanted>

type Options = {
  /** What every process of the instance knows. */
  readonly level: LevelNow
  readonly board: Pick<SensorBoard, 'withNumber' | 'get'>
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly resolver: PublicResolver
  readonly allowInsecure: boolean
}

/** A name that does not resolve is accepted: it is judged again whenever it is dialled. */
const resolveWithinMs = 2 * secondMs
const mostCandidates = 20
/** The format level since when every process knows the filter. */
const minQualityLevel = 3

export function createJudgeWanted(options: Options): JudgeWanted {
  return async ({ url, events = [], filters }, already = []) => {
    const wrong: WrongField[] = [...already]
    judgeEvents(events, options, wrong)
    const judgedUrl = url === undefined ? {} : await judgeUrl(url, options, wrong)
    const judgedFilters =
      filters === undefined ? {} : { filters: judgeFilters(filters, options, wrong) }
    if (wrong.length > 0) throw invalidBody(wrong)
    return { ...judgedUrl, ...judgedFilters }
  }
}

/** A process of an earlier version would drop such a webhook, and misread its deliveries. */
function judgeEvents(events: readonly EventKind[], { level }: Options, wrong: WrongField[]): void {
  const known = eventKinds.filter((kind) => levelOfKind(kind) <= level.current())
  const unknown = events.filter((kind) => !known.includes(kind))
  if (unknown.length === 0) return
  const words = `some of ${known.join(', ')}, until the operator has upgraded every process (airproof upgrade)`
  wrong.push(wrongField('events', unknown, words))
}

const orAsk =
  '(for development the operator may allow others: AIRPROOF_ALLOW_INSECURE_WEBHOOKS=1 and a restart)'

const faults: Readonly<Record<UrlFault, string>> = {
  not_a_url: 'a whole address such as https://example.com/alerts',
  too_long: 'at most 2048 characters long',
  not_https: `an HTTPS URL ${orAsk}`,
  userinfo: 'without a user name and password',
  port: `on port 443 or 8443 ${orAsk}`,
  ip_literal: `a name, not an IP address ${orAsk}`,
  local_name: 'a name that the whole internet knows',
  name_too_long: 'a name of parts of at most 63 characters, 253 in all',
}

async function judgeUrl(
  given: string,
  { resolver, allowInsecure }: Options,
  wrong: WrongField[],
): Promise<{ url?: string }> {
  const verdict = judgeWebhookUrl(given, { allowInsecure })
  if ('fault' in verdict) {
    wrong.push(wrongField('url', given, faults[verdict.fault]))
    return {}
  }
  if (await isNotPublic(new URL(verdict.url).hostname, resolver)) {
    wrong.push(wrongField('url', given, 'a name all of whose addresses are public'))
  }
  return { url: verdict.url }
}

async function isNotPublic(hostname: string, resolver: PublicResolver): Promise<boolean> {
  const { promise: tooLong, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), resolveWithinMs)
  try {
    const resolution = await Promise.race([resolver.resolve(hostname), tooLong])
    return (
      resolution !== undefined && 'fault' in resolution && resolution.fault === 'blocked_address'
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Sensor and area under their canonical names; the whole network is not a filter. */
function judgeFilters(
  { sensor_id, area, aqi_threshold, min_quality }: WebhookFilters,
  { board, rules, directory, level }: Options,
  wrong: WrongField[],
): WebhookFilters {
  const sensor = sensor_id === undefined ? undefined : canonical(sensor_id, { board, rules }, wrong)
  const match = area === undefined ? undefined : directory().find(area)
  if (area !== undefined && match === undefined) {
    wrong.push(wrongField('filters.area', area, 'the name of an area: /v1/areas lists them'))
  }
  // a process of an earlier version would not read the webhook
  if (min_quality !== undefined && level.current() < minQualityLevel) {
    const words = 'left out until the operator has upgraded every process (airproof upgrade)'
    wrong.push(wrongField('filters.min_quality', min_quality, words))
  }
  if (sensor !== undefined) refuseNever({ sensor, area: match }, board, wrong)
  return {
    ...(sensor === undefined ? {} : { sensor_id: sensor }),
    ...(match === undefined || match.isNetwork ? {} : { area: match.name }),
    ...(aqi_threshold === undefined ? {} : { aqi_threshold }),
    ...(min_quality === undefined ? {} : { min_quality }),
  }
}

/** A filter that can never match is refused as a mistake. */
function refuseNever(
  { sensor, area }: { readonly sensor: SensorId; readonly area: Area | undefined },
  board: Options['board'],
  wrong: WrongField[],
): void {
  const entry = board.get(sensor)
  if (entry === undefined) return
  const { site, sensor: registered } = entry
  if (registered.retiredMs !== undefined) {
    const expected = 'the id of a sensor that is in use: this one was retired and sends nothing'
    wrong.push(wrongField('filters.sensor_id', sensor, expected))
    return
  }
  if (area === undefined || area.isNetwork) return
  const isThere = registered.sites.some(
    ({ fromMs, area: name }) => fromMs >= site.fromMs && name === area.name,
  )
  if (isThere) return
  const expected = `${site.area}, the area of ${sensor}, or left out: both filters must fit`
  wrong.push(wrongField('filters.area', area.name, expected))
}

/** The fields of a body that may be judged although other fields are wrong. */
export function wellFormed(sent: unknown, wrong: readonly WrongField[]): Requested {
  const fine = (object: unknown, name: string, field: string): object => {
    const value: unknown = Object(object)[name]
    const isWrong = wrong.some((fault) => fault.field === field)
    return typeof value === 'string' && !isWrong ? { [name]: value } : {}
  }
  const filters: unknown = Object(sent)['filters']
  return {
    ...fine(sent, 'url', 'url'),
    filters: {
      ...fine(filters, 'sensor_id', 'filters.sensor_id'),
      ...fine(filters, 'area', 'filters.area'),
    },
  }
}

/**
 * A sensor may be added later, so a full id need not be known; a short one must match exactly one.
 */
function canonical(
  text: string,
  { board, rules }: Pick<Options, 'board' | 'rules'>,
  wrong: WrongField[],
): SensorId | undefined {
  const id = rules.parse(text)
  if (id !== undefined) return id
  const number = rules.shortNumber(text)
  const candidates = number === undefined ? [] : board.withNumber(number)
  if (candidates.length === 1) return candidates[0]
  const expected =
    candidates.length === 0
      ? `the id of a sensor: ${rules.format}`
      : `the id of one sensor, for example ${candidates.slice(0, mostCandidates).join(', ')}`
  wrong.push(wrongField('filters.sensor_id', text, expected))
  return undefined
}
