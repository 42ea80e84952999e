/**
 * Links that do one thing, once, within a day. Bucket `tokens` holds the hash of each token, so
 * whoever reads our data has no link; the bucket forgets them by itself.
 */
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../../../core/iso-time.ts'
import { dayMs } from '../../../core/time.ts'
import { unlessOvertaken } from '../../../runtime/nats/cas.ts'
import { jsonOf } from '../../../runtime/nats/read-entry.ts'
import { buckets } from '../../../schemas/subjects.ts'
import { hashOfToken, newToken } from '../cookies.ts'

/** What a token stands for. */
export type LinkUse =
  /** Held by the page that says “check your email”: asks for that mail again. */
  | { readonly kind: 'signup'; readonly resent: number; readonly email: string }
  | { readonly kind: 'confirm'; readonly email: string }
  /** Void once the password or the address is another one. */
  | {
      readonly kind: 'reset'
      readonly account: string
      readonly email: string
      readonly revision: number
    }
  | {
      readonly kind: 'email'
      readonly account: string
      readonly email: string
      readonly former: string
      /** Of the password: another one makes the link void. */
      readonly revision: number
    }

export type LinkKind = LinkUse['kind']
type UseOf<K extends LinkKind> = Extract<LinkUse, { kind: K }>

export type Found<K extends LinkKind> = { readonly use: UseOf<K>; readonly revision: number }

export type LinkTokens = {
  readonly make: (use: LinkUse) => Promise<string>
  /** Changes nothing. @returns undefined where it was used, is too old, or is for something else */
  readonly look: <K extends LinkKind>(token: string, kind: K) => Promise<Found<K> | undefined>
  /** @returns false where somebody else used it first */
  readonly consume: (token: string, revision: number) => Promise<boolean>
  /** Writes another use under the same token. @returns false where it was changed meanwhile */
  readonly change: (token: string, revision: number, use: LinkUse) => Promise<boolean>
}

export const linkLifeMs = dayMs

export async function openLinkTokens(nc: NatsConnection, nowMs: () => number): Promise<LinkTokens> {
  const kv: KV = await new Kvm(nc).open(buckets.tokens)
  const written = (use: LinkUse, untilMs: number): string =>
    JSON.stringify({ use, until: formatIso(untilMs) } satisfies Kept)
  const unlessChanged = async (work: Promise<unknown>): Promise<boolean> =>
    (await unlessOvertaken(work)) !== 'overtaken'
  const read = async (token: string): Promise<{ kept: Kept; revision: number } | undefined> => {
    const entry = await kv.get(hashOfToken(token))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
    const kept = jsonOf(entry) as Kept | undefined | null
    if (entry === null || kept?.use === undefined) return undefined
    // the bucket forgets a little later than the minute
    return nowMs() < Date.parse(kept.until) ? { kept, revision: entry.revision } : undefined
  }
  return {
    make: async (use) => {
      const token = newToken()
      await kv.create(hashOfToken(token), written(use, nowMs() + linkLifeMs))
      return token
    },
    look: async <K extends LinkKind>(token: string, kind: K) => {
      const found = await read(token)
      if (found === undefined || !isOf(found.kept.use, kind)) return undefined
      return { use: found.kept.use, revision: found.revision }
    },
    consume: (token, revision) =>
      unlessChanged(kv.delete(hashOfToken(token), { previousSeq: revision })),
    change: async (token, revision, use) => {
      const found = await read(token)
      if (found === undefined) return false
      const value = written(use, Date.parse(found.kept.until))
      return await unlessChanged(kv.update(hashOfToken(token), value, revision))
    },
  }
}

type Kept = { readonly use: LinkUse; readonly until: string }

const isOf = <K extends LinkKind>(use: LinkUse, kind: K): use is UseOf<K> => use.kind === kind
