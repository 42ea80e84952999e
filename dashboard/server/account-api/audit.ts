import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Context } from 'koa'
import { formatIso } from '../../../core/iso-time.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { auditStream, auditSubject } from '../../../schemas/subjects.ts'
import { readSubject } from '../read-subject.ts'

/**
 * Writes into an account's audit log; durable when resolved.
 * @param ctx the request that did it; undefined: it was not the account's own, so its address is
 * left out
 */
export type WriteAudit = (
  account: string,
  event: string,
  ctx: Context | undefined,
  details: Readonly<Record<string, string | number>>,
) => Promise<void>

type Options = { readonly proxies: number; readonly nowMs: () => number }

export const openAudit =
  (nc: NatsConnection, { proxies, nowMs }: Options): WriteAudit =>
  async (account, event, ctx, details) => {
    const from =
      ctx === undefined
        ? {}
        : {
            address: clientNetwork(ctx.req, proxies),
            agent: ctx.get('user-agent').slice(0, 200),
          }
    const record = { at: formatIso(nowMs()), event, ...from, details }
    await jetstream(nc).publish(auditSubject(account), JSON.stringify(record))
  }

/** The stream stores at most 1,000 of an account. Newest first. @throws Refusal 503 */
export const readAudit = (nc: NatsConnection, account: string): Promise<readonly unknown[]> =>
  readSubject(nc, { stream: auditStream, format: 'audit', subject: auditSubject(account) })
