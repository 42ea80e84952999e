/** Subjects of replies: each user's begin with its name, and it may subscribe to no others. */
import { createInbox, type NatsConnection } from '@nats-io/transport-node'

export const inboxPrefixOf = (user: string): string => `_INBOX_${user.replaceAll(/[^\w-]/g, '_')}`

/** A new subject for replies, with the prefix of the connection's user. */
export function newInbox(nc: NatsConnection): string {
  const options: unknown = 'options' in nc ? nc.options : undefined
  const prefix =
    typeof options === 'object' && options !== null && 'inboxPrefix' in options
      ? options.inboxPrefix
      : undefined
  return createInbox(typeof prefix === 'string' ? prefix : undefined)
}
