/**
 * Why a sensor does not report, from what is known of it: one reason, the most certain first. Times are
 * ms since the epoch.
 */

import { minuteMs } from '../time.ts'
import { graceMsOf } from './presence.ts'

export type SilenceFacts = {
  /** When its newest reading was measured; null: it never sent one. */
  readonly lastMs: number | null
  readonly retiredMs: number | null
  /** The whole network, and its area. */
  readonly network: Reporting | undefined
  readonly area: Reporting | undefined
  /** undefined: no gate answers. */
  readonly access: Access | undefined
  /** Newest message of it that was refused. */
  readonly rejected: { readonly atMs: number; readonly reason: string } | undefined
  /** How often it should send. */
  readonly cadenceMs: number
  /** When our own service received nothing last, until it was there again; undefined: not known. */
  readonly ours: OurOutage | undefined
  readonly nowMs: number
}

export type OurOutage = { readonly fromMs: number; readonly toMs: number }

export type Reporting = {
  readonly name: string
  /** That have ever sent a reading. */
  readonly heard: number
  readonly reporting: number
  /** Of the newest reading of any of them. */
  readonly lastMs: number | null
}

export type Access = {
  readonly key: 'none' | 'good' | 'revoked'
  readonly keyMs: number | undefined
  /** Open now; undefined: sensors do not sign in to this NATS, or it is not known. */
  readonly connections: number | undefined
  /** Its last accepted sign-in or push. */
  readonly contactMs: number | undefined
  /** That was over NATS or MQTT: what arrives through an application needs no key of the sensor. */
  readonly hasSignedIn: boolean
  /** Its last refused sign-in. */
  readonly refused: { readonly atMs: number; readonly reason: string } | undefined
  /** Its last publish to a subject that it may not use. */
  readonly deniedMs: number | undefined
  readonly pausedUntilMs: number | undefined
}

export type SilenceReason =
  | { readonly kind: 'retired'; readonly atMs: number }
  /** Neither its present key nor a former one opens. */
  | { readonly kind: 'revoked'; readonly atMs: number | undefined }
  | { readonly kind: 'no_key'; readonly hasSent: boolean }
  /** None of the place, or most of it, reports: it is not this sensor. */
  | {
      readonly kind: 'outage'
      readonly place: string
      readonly silent: number
      readonly of: number
      readonly atMs: number | null
    }
  /** Our own service was away, and the sensor has not had the time to come back since. */
  | { readonly kind: 'restarted'; readonly atMs: number }
  | { readonly kind: 'paused'; readonly untilMs: number }
  /** It signs in with the key that it had before. */
  | { readonly kind: 'replaced'; readonly atMs: number; readonly keyMs: number }
  | { readonly kind: 'sign_in'; readonly atMs: number; readonly reason: string }
  | { readonly kind: 'rejected'; readonly atMs: number; readonly reason: string }
  | { readonly kind: 'denied'; readonly atMs: number }
  | { readonly kind: 'connected' }
  | { readonly kind: 'never' }
  | { readonly kind: 'silent'; readonly atMs: number }

/** Fewer silent sensors may be some broken devices. */
const fewestInOutage = 5

/** After that time devices have found our service again, and each has its turn within its grace. */
const reconnectMs = 2 * minuteMs

/** @param facts of a sensor that does not report */
export function whySilent(facts: SilenceFacts): SilenceReason {
  const { retiredMs, lastMs, network, area, access, rejected, nowMs } = facts
  const back = isJustBack(facts) ? facts.ours : undefined
  if (retiredMs !== null) return { kind: 'retired', atMs: retiredMs }
  if (access?.key === 'revoked') return { kind: 'revoked', atMs: access.keyMs }
  // right after our own outage most sensors are silent, and it is not theirs
  if (lastMs !== null && back === undefined) {
    const outage = outageOf(network) ?? outageOf(area)
    if (outage !== undefined) return outage
  }
  // what was before its last reading, or its last accepted contact, did not stop it
  const since = Math.max(lastMs ?? -Infinity, access?.contactMs ?? -Infinity)
  if (access !== undefined) {
    const { key, keyMs, pausedUntilMs, refused, connections, contactMs, hasSignedIn } = access
    const isNew = lastMs === null && contactMs === undefined && connections !== undefined
    if (key === 'none' && (hasSignedIn || isNew)) return { kind: 'no_key', hasSent: hasSignedIn }
    if (pausedUntilMs !== undefined && pausedUntilMs > nowMs)
      return { kind: 'paused', untilMs: pausedUntilMs }
    const isRefused = refused !== undefined && refused.atMs > since
    if (isRefused && refused.atMs >= (rejected?.atMs ?? -Infinity)) {
      const { atMs, reason } = refused
      const isOldKey = keyMs !== undefined && lastMs !== null && keyMs > lastMs
      if ((reason === 'wrong' || reason === 'expired') && isOldKey)
        return { kind: 'replaced', atMs, keyMs }
      return { kind: 'sign_in', atMs, reason }
    }
  }
  if (rejected !== undefined && rejected.atMs > (lastMs ?? -Infinity))
    return { kind: 'rejected', ...rejected }
  const deniedMs = access?.deniedMs
  if (deniedMs !== undefined && deniedMs > (lastMs ?? -Infinity))
    return { kind: 'denied', atMs: deniedMs }
  // unless it was silent before
  if (back !== undefined && lastMs !== null && lastMs + graceMsOf(facts.cadenceMs) >= back.fromMs)
    return { kind: 'restarted', atMs: back.toMs }
  if ((access?.connections ?? 0) > 0) return { kind: 'connected' }
  return lastMs === null ? { kind: 'never' } : { kind: 'silent', atMs: lastMs }
}

/** An outage of ours in which the sensor had its turn, and sensors have not all had one since. */
const isJustBack = ({ ours, cadenceMs, nowMs }: SilenceFacts): boolean =>
  ours !== undefined &&
  ours.toMs - ours.fromMs >= cadenceMs &&
  nowMs - ours.toMs < reconnectMs + graceMsOf(cadenceMs)

/** All of several sensors that have ever reported, or more than half of many, are silent. */
function outageOf(place: Reporting | undefined): SilenceReason | undefined {
  if (place === undefined) return undefined
  const { name, heard, reporting, lastMs } = place
  const silent = heard - reporting
  const isAll = heard > 1 && reporting === 0
  if (!isAll && (silent < fewestInOutage || silent * 2 <= heard)) return undefined
  return { kind: 'outage', place: name, silent, of: heard, atMs: isAll ? lastMs : null }
}

/**
 * What anyone may know: no address, client, key or reason of a refusal. A failed sign-in is not called
 * the sensor's, because anyone can try one under its id.
 */
export type PublicReason =
  | Extract<
      SilenceReason,
      { readonly kind: 'retired' | 'outage' | 'restarted' | 'connected' | 'never' | 'silent' }
    >
  /** The operator has ended its access. */
  | { readonly kind: 'ended' }
  /** Something arrives under its id and is not accepted. */
  | { readonly kind: 'not_accepted'; readonly atMs: number | null }

export function publicReason(reason: SilenceReason): PublicReason {
  switch (reason.kind) {
    case 'retired':
    case 'outage':
    case 'restarted':
    case 'connected':
    case 'never':
    case 'silent':
      return reason
    case 'revoked':
      return { kind: 'ended' }
    case 'no_key':
      return { kind: reason.hasSent ? 'ended' : 'never' }
    case 'paused':
      return { kind: 'not_accepted', atMs: null }
    case 'replaced':
    case 'sign_in':
    case 'rejected':
    case 'denied':
      return { kind: 'not_accepted', atMs: reason.atMs }
  }
}
