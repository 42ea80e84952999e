import type { FromSchema } from 'json-schema-to-ts'
import { checkOf } from '../check.ts'
import type { MailLane } from '../subjects.ts'

/**
 * A mail to be sent: stream MAIL holds it until then. The process that sends it (`dashboard/mail`)
 * writes the text, so that a process that queues it needs only the fact. It is stored sealed
 * (`runtime/nats/mail-queue.ts`), because it may hold a link.
 */
export const mailSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/mail',
  title: 'Mail to be sent',
  type: 'object',
  required: ['kind', 'to', 'data'],
  properties: {
    kind: {
      enum: [
        'confirm',
        'already_registered',
        'reset',
        'confirm_new_email',
        'email_changed',
        'password_changed',
        'key_expiring',
        'quota_80',
        'quota_100',
        'webhook_failing',
        'webhook_disabled',
      ],
    },
    to: {
      description: 'an account, whose address is looked up when the mail is sent, or an address',
      type: 'object',
      properties: {
        account: { type: 'string' },
        email: { type: 'string' },
        language: {
          type: 'string',
          description: 'of the page on which it was asked for; else that of the account',
        },
      },
    },
    data: {
      description: 'the facts of the mail: names, numbers, times as ISO 8601, links',
      type: 'object',
      additionalProperties: { type: ['string', 'number'] },
    },
  },
} as const

export type Mail = FromSchema<typeof mailSchema>
export type MailKind = Mail['kind']

export const isMail = checkOf<Mail>(mailSchema)

export const laneOf: Readonly<Record<MailKind, MailLane>> = {
  confirm: 'out',
  already_registered: 'out',
  reset: 'out',
  confirm_new_email: 'out',
  email_changed: 'notice',
  password_changed: 'notice',
  key_expiring: 'alert',
  quota_80: 'alert',
  quota_100: 'alert',
  webhook_failing: 'alert',
  webhook_disabled: 'alert',
}
