/** Emails. Names and addresses in them are of strangers, so they are only ever text. */
const once = 'It works once, within 24 hours.'
const notYou = 'If this was not you, ignore this email: nothing happens unless the link is used.'

export const mail = {
  confirm: {
    subject: 'Confirm your account',
    greeting: 'Hello,',
    body: `Open this link to confirm your account. ${once}`,
    action: 'Confirm your account',
    after: notYou,
  },
  alreadyRegistered: {
    subject: 'You already have an account',
    body: 'This address was entered to sign up, probably by you. It already has an account, so there is nothing to confirm.',
    action: 'Sign in',
    forgot: (link: string) => `Forgot your password? ${link}`,
    after: 'If this was not you, ignore this email.',
  },
  reset: {
    subject: 'Reset your password',
    body: `A new password was asked for, probably by you. Open this link to choose one. ${once}`,
    action: 'Choose a password',
    after: notYou,
  },
  confirmNewEmail: {
    subject: 'Confirm your new email address',
    body: (former: string) =>
      `The account of ${former} asked to use this address. If this is your account, open this link in the browser where you are signed in. ${once}`,
    action: 'Confirm the address',
    after: notYou,
  },
  emailChanged: {
    subject: 'Your email address was changed',
    body: (email: string) =>
      `The email address of your account is now ${email}. You can no longer sign in with this one.`,
    after: (operator: string) => `If this was not you, tell ${operator} now.`,
  },
  passwordChanged: {
    subject: 'Your password was changed',
    body: (time: string) => `The password of your account was changed at ${time}.`,
    action: 'Reset your password',
    after: 'If this was not you, reset your password now. That signs out all devices.',
  },
  keyExpiring: {
    subject: (days: string) =>
      days === '1' ? 'An API key expires in 1 day' : `An API key expires in ${days} days`,
    body: (name: string, hint: string, time: string) =>
      `The key “${name}” (${hint}…) stops working at ${time}. Create a new one in time; both work until then.`,
    action: 'API keys',
  },
  quotaMostly: {
    subject: '80 % of today’s requests are used',
    body: (used: string, limit: string, day: string, time: string) =>
      `Your account has used ${used} of ${limit} requests of ${day} (UTC). The count starts again at ${time}.`,
    action: 'Usage',
  },
  quotaUsed: {
    subject: 'Today’s requests are used up',
    body: (limit: string, day: string, time: string) =>
      `Your account has used all ${limit} requests of ${day} (UTC). Further ones are answered with 429 until ${time}.`,
    action: 'Usage',
  },
  webhookFailing: {
    subject: 'A webhook keeps failing',
    body: (webhook: string, url: string, failures: string, time: string) =>
      `The webhook ${webhook} to ${url} has failed ${failures} times since ${time}. We keep trying.`,
    action: 'See its deliveries',
  },
  webhookDisabled: {
    subject: 'A webhook was disabled',
    body: (webhook: string, url: string, time: string, reason: string, detail: string) =>
      `The webhook ${webhook} to ${url} was disabled at ${time} (${reason}): ${detail}`,
    action: 'See its deliveries',
    after: 'It receives no events until you enable it again.',
  },
  operatorOf: (dashboard: string) => `the operator of ${dashboard}`,
}

export type MailTexts = typeof mail
