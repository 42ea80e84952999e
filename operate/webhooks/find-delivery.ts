import type { Attempt } from '../../schemas/webhooks/attempt.ts'
import type { WaitingDelivery } from '../../schemas/webhooks/webhook-requests.ts'
import type { AttemptLog, LoggedAttempt } from './attempt-log.ts'
import { NoDelivery } from './delivery-errors.ts'
import type { DeliveryOwner } from './delivery-owner.ts'

export type DeliverySources = {
  readonly log: AttemptLog
  readonly owner: DeliveryOwner
  /** Aborted when no caller needs the answer any more. */
  readonly gone?: AbortSignal
}

const mostListed = 1_000

/** @param id of the delivery, or its key */
export const isOf = ({ delivery, key }: Pick<Attempt, 'delivery' | 'key'>, id: string): boolean =>
  delivery === id || key === id

/** Newest first. @throws AttemptsAway */
export async function* attemptsOf(
  { log, gone }: DeliverySources,
  webhook: string,
  id: string,
): AsyncGenerator<LoggedAttempt> {
  for await (const logged of log.read(webhook, { containing: id, gone }))
    if (isOf(logged.attempt, id)) yield logged
}

/** As its owner holds it; undefined: it does not. @throws OwnerAway */
export async function waitingOf(
  { owner }: DeliverySources,
  webhook: string,
  id: string,
): Promise<WaitingDelivery | undefined> {
  for (const state of ['pending', 'dead'] as const) {
    const { deliveries } = await owner.list(webhook, { state, limit: mostListed })
    const waiting = deliveries.find((delivery) => isOf(delivery, id))
    if (waiting !== undefined) return waiting
  }
  return undefined
}

/**
 * The natural key of a delivery, as its owner stores it. Only of a delivery that exists: a made-up
 * key would send a signed event that never happened.
 * @throws NoDelivery, AttemptsAway, OwnerAway
 */
export async function keyOfDelivery(
  sources: DeliverySources,
  webhook: string,
  id: string,
): Promise<string> {
  for await (const { attempt } of attemptsOf(sources, webhook, id)) return attempt.key
  const waiting = await waitingOf(sources, webhook, id)
  if (waiting === undefined) throw new NoDelivery(id, 'unknown')
  return waiting.key
}
