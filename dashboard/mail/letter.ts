/** What each kind of mail says. Whatever comes with it is text: names and addresses of strangers. */
import type { Mail, MailKind } from '../../schemas/mail.ts'

export type Letter = {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** The one thing to do. */
  readonly action?: { readonly label: string; readonly link: string }
  readonly after?: readonly string[]
  /** A link in it is good for a day: later it is not worth sending. */
  readonly isForADay?: boolean
}

type Facts = {
  /** On one line; empty where the mail does not have it. */
  readonly text: (name: string) => string
  readonly dashboard: string
}

const notYou = 'If this was not you, ignore this mail: without the link nothing happens.'
const wasItYou = 'If this was not you, set a new password at once; that signs everybody else out.'

const letters: Readonly<Record<MailKind, (facts: Facts) => Letter>> = {
  confirm: ({ text }) => ({
    subject: 'Confirm your address',
    paragraphs: [
      // no name: whoever signs up may give any address, and would write to it what they like
      'Hello,',
      'open this link and press the button to make your account. It works once, within 24 hours.',
    ],
    action: { label: 'Confirm the address', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  already_registered: ({ text }) => ({
    subject: 'You have an account already',
    paragraphs: [
      'Somebody, probably you, gave this address to sign up. It has an account already, so there is nothing to confirm.',
    ],
    action: { label: 'Sign in', link: text('link') },
    after: [`Forgotten the password? ${text('forgot')}`, 'If this was not you, ignore this mail.'],
    isForADay: true,
  }),
  reset: ({ text }) => ({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody, probably you, asked for a new password. This link lets you choose one. It works once, within 24 hours.',
    ],
    action: { label: 'Choose a password', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  confirm_new_email: ({ text }) => ({
    subject: 'Confirm your new address',
    paragraphs: [
      `The account of ${text('former')} is to have this address. Open this link and press the button if that is right. It works once, within 24 hours.`,
    ],
    action: { label: 'Confirm the address', link: text('link') },
    after: [notYou],
    isForADay: true,
  }),
  email_changed: ({ text, dashboard }) => ({
    subject: 'Your address was changed',
    paragraphs: [`Your account has the address ${text('email')} now; this one no longer signs in.`],
    after: [`If this was not you, tell the operator of ${dashboard} at once.`],
  }),
  password_changed: ({ text }) => ({
    subject: 'Your password was changed',
    paragraphs: [`The password of your account was changed at ${text('at')}.`],
    action: { label: 'Set a new password', link: text('link') },
    after: [wasItYou],
  }),
  key_expiring: ({ text, dashboard }) => ({
    subject: `An API key expires in ${text('days')} days`,
    paragraphs: [
      `The key “${text('name')}” (${text('hint')}…) stops working at ${text('expires_at')}. Make a new one and put it in its place; both work until then.`,
    ],
    action: { label: 'API keys', link: `${dashboard}/settings/keys` },
  }),
  quota_80: ({ text, dashboard }) => ({
    subject: '80 % of today’s requests are used',
    paragraphs: [
      `Your account has used ${text('used')} of ${text('limit')} requests of ${text('day')} (UTC). The count starts anew at ${text('resets_at')}.`,
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
      `The webhook ${text('webhook')} to ${text('url')} has failed ${text('failures')} times since ${text('since')}. We go on trying.`,
    ],
    action: {
      label: 'Look at its deliveries',
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
  }),
  webhook_disabled: ({ text, dashboard }) => ({
    subject: 'A webhook was disabled',
    paragraphs: [
      `The webhook ${text('webhook')} to ${text('url')} was disabled at ${text('disabled_at')} (${text('reason')}): ${text('detail')}`,
    ],
    action: {
      label: 'Look at its deliveries',
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
    after: ['Events pass it by until it is enabled again.'],
  }),
}

/** @param dashboard where people reach us, without a slash at its end */
export function letterOf({ kind, data }: Mail, dashboard: string): Letter {
  const text = (name: string): string => onOneLine(String(data[name] ?? ''))
  return letters[kind]({ text, dashboard })
}

const longestFact = 2_000

const onOneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, longestFact)
