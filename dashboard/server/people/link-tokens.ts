/**
 * Links that do one thing, once, within a day. Bucket `tokens` holds the hash of each token, so a
 * reader of our data has no link; the bucket's entries expire by themselves.
 */
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../../../core/iso-time.ts'
import { dayMs } from '../../../core/time.ts'
import { jsonOf } from '../../../runtime/nats/buckets/read-entry.ts'
import { unlessOvertaken } from '../../../runtime/nats/cas.ts'
import { buckets } from '../../../schemas/subjects.ts'
import { hashOfToken, newToken } from '../cookies.ts'

/** What a token stands for. */
export type LinkUse =
  /** In the form of the page “check your email”: requests that mail again. */
  | { readonly kind: 'signup'; readonly resent: number; readonly email: string }
  | { readonly kind: 'confirm'; readonly email: string }
  /** Void once the password or the address has changed. */
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
      /** Of the password: a new password makes the link void. */
      readonly revision: number
    }

export type LinkKind = LinkUse['kind']
type UseOf<K extends LinkKind> = Extract<LinkUse, { kind: K }>

export type Found<K extends LinkKind> = { readonly use: UseOf<K>; readonly revision: number }

export type LinkTokens = {
  readonly make: (use: LinkUse) => Promise<string>
  /** Changes nothing. @returns undefined where it was used, is too old, or is for something else */
  readonly look: <K extends LinkKind>(token: string, kind: K) => Promise<Found<K> | undefined>
  /** @returns false where another request used it first */
  readonly consume: (token: string, revision: number) => Promise<boolean>
  /** Writes another use under the same token. @returns false where it was changed meanwhile */
  readonly change: (token: string, revision: number, use: LinkUse) => Promise<boolean>
}

export const linkLifeMs = dayMs

export async function openLinkTokens(nc: NatsConnection, nowMs: () => number): Promise<LinkTokens> {
  const kv: KV = await new Kvm(nc).open(buckets.tokens)
  const written = (use: LinkUse, untilMs: number): string =>
    JSON.stringify({ use, until: formatIso(untilMs) } satisfies StoredLink)
  const unlessChanged = async (work: Promise<unknown>): Promise<boolean> =>
    (await unlessOvertaken(work)) !== 'overtaken'
  const read = async (
    token: string,
  ): Promise<{ stored: StoredLink; revision: number } | undefined> => {
    const entry = await kv.get(hashOfToken(token))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written only by this file
    const stored = jsonOf(entry) as StoredLink | undefined | null
    if (entry === null || stored?.use === undefined) return undefined
    // the bucket's entries expire a little late
    return nowMs() < Date.parse(stored.until) ? { stored, revision: entry.revision } : undefined
  }
  return {
    make: async (use) => {
      const token = newToken()
      await kv.create(hashOfToken(token), written(use, nowMs() + linkLifeMs))
      return token
    },
    look: async <K extends LinkKind>(token: string, kind: K) => {
      const link = await read(token)
      if (link === undefined || !isOf(link.stored.use, kind)) return undefined
      return { use: link.stored.use, revision: link.revision }
    },
    consume: (token, revision) =>
      unlessChanged(kv.delete(hashOfToken(token), { previousSeq: revision })),
    change: async (token, revision, use) => {
      const link = await read(token)
      if (link === undefined) return false
      const value = written(use, Date.parse(link.stored.until))
      return await unlessChanged(kv.update(hashOfToken(token), value, revision))
    },
  }
}

type StoredLink = { readonly use: LinkUse; readonly until: string }

const isOf = <K extends LinkKind>(use: LinkUse, kind: K): use is UseOf<K> => use.kind === kind
