import { jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { Mail } from '../schemas/mail.ts'
import { mailSubject } from '../schemas/subjects.ts'
import type { SecretBox } from './seal-secret.ts'

/** What a sealed mail is bound to. */
export const sealedMail = 'mail'

export type MailQueue = {
  /**
   * Resolves when the mail is durable: it is then sent, however long the mail server is away.
   * @param id the same for the same fact: within two days it is queued once, whoever finds it out
   */
  readonly send: (id: string, mail: Mail) => Promise<void>
}

export function openMailQueue(nc: NatsConnection, box: SecretBox): MailQueue {
  const js = jetstream(nc)
  return {
    send: async (id, mail) => {
      const told = headers()
      told.set('Nats-Msg-Id', id)
      await js.publish(mailSubject, box.seal(JSON.stringify(mail), sealedMail), { headers: told })
    },
  }
}
