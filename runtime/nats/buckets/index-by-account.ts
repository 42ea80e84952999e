import type { WatchedBucket } from './watched-bucket.ts'

/** The keys of each account's entries, kept current, so that listing one account's does not scan them all. */
export function indexByAccount<T extends { readonly account: string }>(
  bucket: Pick<WatchedBucket<T>, 'entries' | 'onChange'>,
): (account: string) => ReadonlySet<string> {
  const ids = new Map<string, Set<string>>()
  const accountOf = new Map<string, string>()
  const none: ReadonlySet<string> = new Set()

  const leave = (id: string): void => {
    const account = accountOf.get(id)
    if (account === undefined) return
    accountOf.delete(id)
    const own = ids.get(account)
    own?.delete(id)
    if (own?.size === 0) ids.delete(account)
  }
  const enter = (id: string, { account }: T): void => {
    leave(id)
    accountOf.set(id, account)
    const own = ids.get(account)
    if (own === undefined) ids.set(account, new Set([id]))
    else own.add(id)
  }
  for (const [id, webhook] of bucket.entries()) enter(id, webhook)
  bucket.onChange(({ key, value }) => (value === undefined ? leave(key) : enter(key, value)))
  return (account) => ids.get(account) ?? none
}
