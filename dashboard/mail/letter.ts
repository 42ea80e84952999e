/** The text of each kind of mail. Its data are only text: names and addresses of strangers. */
import { onOneLine } from '../../core/one-line.ts'
import type { Mail, MailKind } from '../../schemas/people/mail.ts'

export type Letter = {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** The one thing to do. */
  readonly action?: { readonly label: string; readonly link: string }
  readonly after?: readonly string[]
  /** A link in it is valid for a day: later it is not worth sending. */
  readonly isForADay?: boolean
}

type Facts = {
  /** On one line; empty where the mail does not have it. */
  readonly text: (name: string) => string
  readonly dashboard: string
  /** How to reach the operator. */
  readonly operator: string
}

const notYou = 'If this was not you, ignore this email: nothing happens unless the link is used.'
const wasItYou = 'If this was not you, reset your password now. That signs out all devices.'

const letters: Readonly<Record<MailKind, (facts: Facts) => Letter>> = {
  confirm: ({ text }) => ({
    subject: 'Confirm your account',
    // without any text of a stranger: every address can be given at sign-up
    paragraphs: [
      'Hello,',
      'Open this link to confirm your account. It works once, within 24 hours.',
    ],
    action: { label: 'Confirm your account', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  already_registered: ({ text }) => ({
    subject: 'You already have an account',
    paragraphs: [
      'This address was entered to sign up, probably by you. It already has an account, so there is nothing to confirm.',
    ],
    action: { label: 'Sign in', link: text('link') },
    after: [`Forgot your password? ${text('forgot')}`, 'If this was not you, ignore this email.'],
    isForADay: true,
  }),
  reset: ({ text }) => ({
    subject: 'Reset your password',
    paragraphs: [
      'A new password was asked for, probably by you. Open this link to choose one. It works once, within 24 hours.',
    ],
    action: { label: 'Choose a password', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  confirm_new_email: ({ text }) => ({
    subject: 'Confirm your new email address',
    paragraphs: [
      `The account of ${text('former')} asked to use this address. If this is your account, open this link in the browser where you are signed in. It works once, within 24 hours.`,
    ],
    action: { label: 'Confirm the address', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  email_changed: ({ text, operator }) => ({
    subject: 'Your email address was changed',
    paragraphs: [
      `The email address of your account is now ${text('email')}. You can no longer sign in with this one.`,
    ],
    after: [`If this was not you, tell ${operator} now.`],
  }),
  password_changed: ({ text }) => ({
    subject: 'Your password was changed',
    paragraphs: [`The password of your account was changed at ${text('at')}.`],
    action: { label: 'Reset your password', link: text('link') },
    after: [wasItYou],
  }),
  key_expiring: ({ text, dashboard }) => ({
    subject: `An API key expires in ${text('days')} days`,
    paragraphs: [
      `The key “${text('name')}” (${text('hint')}…) stops working at ${text('expires_at')}. Create a new one in time; both work until then.`,
    ],
    action: { label: 'API keys', link: `${dashboard}/settings/keys` },
  }),
  quota_80: ({ text, dashboard }) => ({
    subject: '80 % of today’s requests are used',
    paragraphs: [
      `Your account has used ${text('used')} of ${text('limit')} requests of ${text('day')} (UTC). The count starts again at ${text('resets_at')}.`,
    ],
    action: { label: 'Usage', link: `${dashboard}/settings/usage` },
  }),
  quota_100: ({ text, dashboard }) => ({
    subject: 'Today’s requests are used up',
    paragraphs: [
      `Your account has used all ${text('limit')} requests of ${text('day')} (UTC). Further ones are answered with 429 until ${text('resets_at')}.`,
    ],
    action: { label: 'Usage', link: `${dashboard}/settings/usage` },
  }),
  webhook_failing: ({ text, dashboard }) => ({
    subject: 'A webhook keeps failing',
    paragraphs: [
      `The webhook ${text('webhook')} to ${text('url')} has failed ${text('failures')} times since ${text('since')}. We keep trying.`,
    ],
    action: {
      label: 'See its deliveries',
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
  }),
  webhook_disabled: ({ text, dashboard }) => ({
    subject: 'A webhook was disabled',
    paragraphs: [
      `The webhook ${text('webhook')} to ${text('url')} was disabled at ${text('disabled_at')} (${text('reason')}): ${text('detail')}`,
    ],
    action: {
      label: 'See its deliveries',
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
    after: ['It receives no events until you enable it again.'],
  }),
}

/**
 * @param dashboard where people reach us, without a slash at its end
 * @param contact where people reach the operator
 */
export function letterOf({ kind, data }: Mail, dashboard: string, contact?: string): Letter {
  const text = (name: string): string => onOneLine(String(data[name] ?? '')).slice(0, longestFact)
  const operator = contact ?? `the operator of ${dashboard}`
  return letters[kind]({ text, dashboard, operator })
}

const longestFact = 2_000
