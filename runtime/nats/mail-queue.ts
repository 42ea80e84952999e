import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { laneOf, type Mail } from '../../schemas/people/mail.ts'
import { laneSubject } from '../../schemas/subjects.ts'
import { counterIn } from '../metrics.ts'
import type { Counter, Registry } from '../prometheus.ts'
import type { SecretBox } from '../secrets/seal-secret.ts'

/** The context that a sealed mail is bound to. */
export const sealedMail = 'mail'

export type MailQueue = {
  /**
   * Resolves when the mail is durable: it is then sent, however long the mail server is unavailable.
   * @param id the same for the same fact: within two days it is queued once, by whichever process
   * @returns false if too many mails of its lane wait: it is dropped and counted
   * @throws MailFull for a mail that a person requested and waits for
   */
  readonly send: (id: string, mail: Mail) => Promise<boolean>
}

/** Too many mails wait to be sent, because the mail server has been unavailable or slow for long. */
export class MailFull extends Error {
  override readonly name = 'MailFull'
}

/** @param dropped counts the mails that the queue had no room for, by kind */
export function openMailQueue(
  nc: NatsConnection,
  box: SecretBox,
  dropped: Counter<'kind'>,
): MailQueue {
  const js = jetstream(nc)
  return {
    send: async (id, mail) => {
      const { kind } = mail
      const withId = headers()
      withId.set('Nats-Msg-Id', id)
      const lane = laneOf[kind]
      try {
        await js.publish(laneSubject(lane), box.seal(JSON.stringify(mail), sealedMail), {
          headers: withId,
        })
        return true
      } catch (error) {
        if (!isFull(error)) throw error
        dropped.inc({ kind })
        if (lane !== 'out') return false
        throw new MailFull('too many mails are waiting to be sent', { cause: error })
      }
    },
  }
}

/** The stream, or the lane within it, is full. */
const isFull = (error: unknown): boolean =>
  error instanceof JetStreamApiError && /maximum (bytes|messages)/.test(error.message)

export const countDropped = (registry: Registry): Counter<'kind'> =>
  counterIn(registry)(
    'airproof_mails_dropped_total',
    'Mails that were not queued because too many are waiting: check the mail server',
    'kind',
  )
