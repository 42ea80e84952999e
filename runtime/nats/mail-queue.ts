import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { Counter, Registry } from 'prom-client'
import { laneOf, type Mail } from '../../schemas/people/mail.ts'
import { laneSubject } from '../../schemas/subjects.ts'
import { counterIn } from '../metrics.ts'
import type { SecretBox } from '../secrets/seal-secret.ts'

/** What a sealed mail is bound to. */
export const sealedMail = 'mail'

export type MailQueue = {
  /**
   * Resolves when the mail is durable: it is then sent, however long the mail server is away.
   * @param id the same for the same fact: within two days it is queued once, whoever finds it out
   * @returns false if too many mails of its lane wait: it is dropped and counted
   * @throws MailFull for a mail that a person asked for and waits for
   */
  readonly send: (id: string, mail: Mail) => Promise<boolean>
}

/** Too many mails wait to be sent, because the mail server has been away or slow for long. */
export class MailFull extends Error {
  override readonly name = 'MailFull'
}

/** @param dropped counts the mails that found no room, by kind */
export function openMailQueue(
  nc: NatsConnection,
  box: SecretBox,
  dropped: Counter<'kind'>,
): MailQueue {
  const js = jetstream(nc)
  return {
    send: async (id, mail) => {
      const { kind } = mail
      const told = headers()
      told.set('Nats-Msg-Id', id)
      const lane = laneOf[kind]
      try {
        await js.publish(laneSubject(lane), box.seal(JSON.stringify(mail), sealedMail), {
          headers: told,
        })
        return true
      } catch (error) {
        if (!isFull(error)) throw error
        dropped.inc({ kind })
        if (lane !== 'out') return false
        throw new MailFull('too many mails wait to be sent', { cause: error })
      }
    },
  }
}

/** The stream, or the lane within it, takes no more. */
const isFull = (error: unknown): boolean =>
  error instanceof JetStreamApiError && /maximum (bytes|messages)/.test(error.message)

export const countDropped = (registry: Registry): Counter<'kind'> =>
  counterIn(registry)(
    'airproof_mails_dropped_total',
    'Mails that were not queued because too many wait: look at the mail server',
    'kind',
  )
