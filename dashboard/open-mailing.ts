/**
 * Mails: queued by any part of the dashboard, sent by one of the processes; and the reminders of
 * keys.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { AccountBook } from '../operate/account-book.ts'
import type { Logger } from '../runtime/log.ts'
import { countDropped, type MailQueue, openMailQueue } from '../runtime/nats/mail-queue.ts'
import type { Registry } from '../runtime/prometheus.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import type { DashboardConfig } from './config.ts'
import { filePost } from './mail/file-post.ts'
import { openKeyReminders } from './mail/key-reminders.ts'
import { openMailSender } from './mail/mail-sender.ts'
import type { Post } from './mail/post.ts'
import { countMails } from './server/metrics.ts'

type Options = {
  readonly nc: NatsConnection
  readonly book: AccountBook
  readonly box: SecretBox
  readonly settings: Pick<DashboardConfig, 'mail' | 'publicUrl' | 'contact' | 'network'>
  readonly metrics: Registry
  readonly log: Logger
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

export async function openMailing(
  { nc, book, box, settings, metrics, log, nowMs, onFailure }: Options,
  opened: AsyncDisposableStack,
): Promise<MailQueue> {
  const mails = openMailQueue(nc, box, countDropped(metrics))
  const { smtpUrl, smtpUrlNow, allowPlain, from, folder } = settings.mail
  // nodemailer takes 100 ms to load
  const smtp = async (): Promise<Post> =>
    (await import('./mail/post.ts')).smtpPost(smtpUrlNow, { allowPlain })
  opened.use(
    await openMailSender({
      nc,
      box,
      accounts: book.accounts,
      post: opened.use(smtpUrl === undefined ? filePost(folder, nowMs) : await smtp()),
      from,
      dashboard: settings.publicUrl,
      contact: settings.contact?.text,
      language: settings.network.language,
      log,
      count: countMails(metrics),
      nowMs,
    }),
  )
  opened.use(await openKeyReminders({ nc, mails, nowMs, onFailure }))
  return mails
}
