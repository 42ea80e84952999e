/** What a PATCH makes of a webhook: merged as in RFC 7396, so fields that are not named stay. */
import type { Webhook, WebhookFilters } from '../../schemas/webhooks/webhook.ts'
import type { WebhookBodies } from '../../schemas/webhooks/webhook-bodies.ts'
import type { JudgeWanted } from './judge-wanted.ts'
import { disabledByOperator } from './webhook-error.ts'

type Patch = WebhookBodies['patch']
type FilterName = keyof WebhookFilters

/**
 * The named fields are judged once; the result may be applied again, to what others have written
 * meanwhile.
 * @throws ApiError 400, 409
 */
export async function patched(
  { url, description, events, filters, active }: Patch,
  webhook: Webhook,
  judge: JudgeWanted,
): Promise<(webhook: Webhook) => Webhook> {
  const named = namedFilters(filters ?? {})
  const changed = { ...(url === undefined ? {} : { url }), ...(events && { events }) }
  const wanted = await judge({ ...changed, filters: named })
  const dropped = filters === null ? undefined : droppedFilters(filters ?? {}, wanted.filters ?? {})
  // the named filters may fit by themselves, but not together with those that stay
  if (Object.keys(named).length > 0) {
    await judge({ filters: { ...without(webhook.filters, dropped), ...wanted.filters } })
  }
  if (active === true) refuseOperators(webhook)
  return (before) => {
    const { description: current, ...rest } = active === true ? enabled(before) : before
    const next = description === undefined ? current : (description ?? undefined)
    return {
      ...rest,
      ...(next === undefined ? {} : { description: next }),
      url: wanted.url ?? rest.url,
      events: events ?? rest.events,
      filters: { ...without(rest.filters, dropped), ...wanted.filters },
      active: active ?? rest.active,
    }
  }
}

/** Sends again, whatever had stopped it, unless the operator disabled it. @throws ApiError 409 */
export function resumed(webhook: Webhook): Webhook {
  return { ...enabled(webhook), paused: false }
}

function enabled(webhook: Webhook): Webhook {
  refuseOperators(webhook)
  const { disabled: _, ...rest } = webhook
  return { ...rest, active: true }
}

function refuseOperators({ disabled }: Webhook): void {
  if (disabled?.reason === 'operator') throw disabledByOperator(disabled.detail)
}

type FilterPatch = NonNullable<Patch['filters']>

function namedFilters({
  sensor_id,
  area,
  aqi_threshold,
  min_quality,
}: FilterPatch): WebhookFilters {
  return {
    ...(typeof sensor_id === 'string' ? { sensor_id } : {}),
    ...(typeof area === 'string' ? { area } : {}),
    ...(typeof aqi_threshold === 'number' ? { aqi_threshold } : {}),
    ...(typeof min_quality === 'string' ? { min_quality } : {}),
  }
}

/** Removed: null, and an area that turned out to be the whole network. */
const droppedFilters = (patch: FilterPatch, wanted: WebhookFilters): readonly FilterName[] =>
  (['sensor_id', 'area', 'aqi_threshold', 'min_quality'] as const).filter(
    (name) => patch[name] !== undefined && wanted[name] === undefined,
  )

/** @param dropped undefined: all */
function without(
  { sensor_id, area, aqi_threshold, min_quality }: WebhookFilters,
  dropped: readonly FilterName[] | undefined,
): WebhookFilters {
  const isKept = (name: FilterName): boolean => dropped !== undefined && !dropped.includes(name)
  return {
    ...(sensor_id !== undefined && isKept('sensor_id') ? { sensor_id } : {}),
    ...(area !== undefined && isKept('area') ? { area } : {}),
    ...(aqi_threshold !== undefined && isKept('aqi_threshold') ? { aqi_threshold } : {}),
    ...(min_quality !== undefined && isKept('min_quality') ? { min_quality } : {}),
  }
}
