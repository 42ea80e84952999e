/** What each kind of mail says, in a language. Its data are only text: names and addresses of strangers. */
import { onOneLine } from '../../core/one-line.ts'
import type { Mail, MailKind } from '../../schemas/people/mail.ts'
import { wordsIn } from '../server/language.ts'
import type { MailTexts } from '../texts/en/mail.ts'
import { asLanguage, type Language } from '../texts/languages.ts'

export type Letter = {
  readonly language: Language
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** The one thing to do. */
  readonly action?: { readonly label: string; readonly link: string }
  readonly after?: readonly string[]
  /** A link in it is valid for a day: later it is not worth sending. */
  readonly isForADay?: boolean
}

type Facts = {
  readonly words: MailTexts
  /** On one line; empty where the mail does not have it. */
  readonly text: (name: string) => string
  /** A moment, in UTC, which no reader of a mail can be asked about. */
  readonly time: (name: string) => string
  readonly dashboard: string
  /** How to reach the operator. */
  readonly operator: string
}

type Written = Omit<Letter, 'language'>

const letters: Readonly<Record<MailKind, (facts: Facts) => Written>> = {
  confirm: ({ words: { confirm }, text }) => ({
    subject: confirm.subject,
    // without any text of a stranger: every address can be given at sign-up
    paragraphs: [confirm.greeting, confirm.body],
    action: { label: confirm.action, link: text('link') },
    after: [confirm.after],
    isForADay: true,
  }),
  already_registered: ({ words: { alreadyRegistered }, text }) => ({
    subject: alreadyRegistered.subject,
    paragraphs: [alreadyRegistered.body],
    action: { label: alreadyRegistered.action, link: text('link') },
    after: [alreadyRegistered.forgot(text('forgot')), alreadyRegistered.after],
    isForADay: true,
  }),
  reset: ({ words: { reset }, text }) => ({
    subject: reset.subject,
    paragraphs: [reset.body],
    action: { label: reset.action, link: text('link') },
    after: [reset.after],
    isForADay: true,
  }),
  confirm_new_email: ({ words: { confirmNewEmail }, text }) => ({
    subject: confirmNewEmail.subject,
    paragraphs: [confirmNewEmail.body(text('former'))],
    action: { label: confirmNewEmail.action, link: text('link') },
    after: [confirmNewEmail.after],
    isForADay: true,
  }),
  email_changed: ({ words: { emailChanged }, text, operator }) => ({
    subject: emailChanged.subject,
    paragraphs: [emailChanged.body(text('email'))],
    after: [emailChanged.after(operator)],
  }),
  password_changed: ({ words: { passwordChanged }, text, time }) => ({
    subject: passwordChanged.subject,
    paragraphs: [passwordChanged.body(time('at'))],
    action: { label: passwordChanged.action, link: text('link') },
    after: [passwordChanged.after],
  }),
  key_expiring: ({ words: { keyExpiring }, text, time, dashboard }) => ({
    subject: keyExpiring.subject(text('days')),
    paragraphs: [keyExpiring.body(text('name'), text('hint'), time('expires_at'))],
    action: { label: keyExpiring.action, link: `${dashboard}/settings/keys` },
  }),
  quota_80: ({ words: { quotaMostly }, text, time, dashboard }) => ({
    subject: quotaMostly.subject,
    paragraphs: [quotaMostly.body(text('used'), text('limit'), text('day'), time('resets_at'))],
    action: { label: quotaMostly.action, link: `${dashboard}/settings/usage` },
  }),
  quota_100: ({ words: { quotaUsed }, text, time, dashboard }) => ({
    subject: quotaUsed.subject,
    paragraphs: [quotaUsed.body(text('limit'), text('day'), time('resets_at'))],
    action: { label: quotaUsed.action, link: `${dashboard}/settings/usage` },
  }),
  webhook_failing: ({ words: { webhookFailing }, text, time, dashboard }) => ({
    subject: webhookFailing.subject,
    paragraphs: [
      webhookFailing.body(text('webhook'), text('url'), text('failures'), time('since')),
    ],
    action: {
      label: webhookFailing.action,
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
  }),
  webhook_disabled: ({ words: { webhookDisabled }, text, time, dashboard }) => ({
    subject: webhookDisabled.subject,
    paragraphs: [
      webhookDisabled.body(
        text('webhook'),
        text('url'),
        time('disabled_at'),
        text('reason'),
        text('detail'),
      ),
    ],
    action: {
      label: webhookDisabled.action,
      link: `${dashboard}/settings/webhooks/${text('webhook')}`,
    },
    after: [webhookDisabled.after],
  }),
}

type Reader = {
  /** Where people reach us, without a slash at its end. */
  readonly dashboard: string
  /** Where people reach the operator. */
  readonly contact?: string | undefined
  /** As it is stored; English where it is none of ours. */
  readonly language?: string | undefined
}

export function letterOf(
  { kind, data }: Mail,
  { dashboard, contact, language: wanted }: Reader,
): Letter {
  const language = asLanguage(wanted) ?? 'en'
  const { mail: words, format } = wordsIn(language)
  const text = (name: string): string => onOneLine(String(data[name] ?? '')).slice(0, longestFact)
  const time = (name: string): string => {
    const ms = Date.parse(text(name))
    return Number.isFinite(ms) ? format.date(ms, moment, 'UTC') : text(name)
  }
  const operator = contact ?? words.operatorOf(dashboard)
  return { language, ...letters[kind]({ words, text, time, dashboard, operator }) }
}

const moment = {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const
const longestFact = 2_000
