/** Mails to the owners of webhooks: a webhook is failing, or was disabled. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../runtime/log.ts'
import type { MailQueue } from '../../runtime/nats/mail-queue.ts'
import type { TellableMail } from './mails.ts'

const mailTries = 5
const mailRetryMs = 2_000

/** Never rejects: a mail that cannot be queued must not keep a webhook from being disabled. */
export type SendOwnerMail = (mail: TellableMail) => Promise<void>

export function ownerMails(mails: MailQueue, log: Logger, stop: AbortSignal): SendOwnerMail {
  return async ({ id, mail }) => {
    for (let i = 0; i < mailTries && !stop.aborted; i++) {
      try {
        await mails.send(id, mail)
        return
      } catch (error) {
        log.warn({ err: error, mail: id }, 'a mail could not be queued: trying again')
        await sleep(mailRetryMs, undefined, { signal: stop }).catch(() => undefined)
      }
    }
  }
}
