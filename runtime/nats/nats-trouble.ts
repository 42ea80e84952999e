/** Why a connection to NATS cannot be made, and what to do about it. */
import { AuthorizationError, PermissionViolationError, TimeoutError } from '@nats-io/transport-node'
import { codeOf } from '../exit.ts'

export type NatsTrouble = {
  /** `refused`: a server responded, so waiting does not help; `silent`: none did. */
  readonly kind: 'refused' | 'silent'
  readonly words: string
}

/** The server and the user: `NatsSettings` without its callback. */
export type Attempt = {
  /** One address or several, separated by commas. */
  readonly natsUrl: string | undefined
  readonly natsCreds?: string | undefined
  readonly natsLogin?: NatsLogin | undefined
  /** File of the server's own certificate; its name need not match, and no other is trusted. */
  readonly natsPinFile?: string | undefined
}

export type NatsLogin = {
  readonly user: string
  readonly password: string
  /** Where the password is: read again at each sign-in, as it may have been rotated (`passwords.ts`). */
  readonly file?: string
}

export function natsTrouble(error: unknown, attempt: Attempt): NatsTrouble {
  const at = `NATS at ${shownUrl(attempt.natsUrl ?? '')}`
  const all = chainOf(error)
  const code = all.map(codeOf).find((known) => known !== undefined) ?? ''
  const messages = all.map(({ message }) => message).join(': ')
  const refused = (words: string): NatsTrouble => ({ kind: 'refused', words: `${at} ${words}` })
  const silent = (words: string): NatsTrouble => ({ kind: 'silent', words: `${at} ${words}` })

  if (all.some((each) => each instanceof AuthorizationError)) return refused(refusalOf(attempt))
  if (attempt.natsPinFile !== undefined && /^(ENOENT|EACCES|EISDIR)$/.test(code))
    return refused(
      `was not contacted: NATS_PIN_FILE ${attempt.natsPinFile} cannot be read (${code})`,
    )
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return refused(distrustOf(code, attempt))
  if (messages.includes("does not support 'tls'"))
    return refused(
      'does not support TLS, which the settings require: correct NATS_URL or NATS_PIN_FILE',
    )
  if (/^(EPROTO|ERR_SSL_|ERR_TLS_)/.test(code))
    return refused(`does not complete the TLS handshake (${code}): check its TLS settings`)
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code))
    return silent(`cannot be found: its host name is unknown here (${code}): check NATS_URL`)
  if (messages.includes('connection refused') || code === 'ECONNREFUSED')
    return silent('does not answer (connection refused): is it running? Check NATS_URL')
  if (all.some((each) => each instanceof TimeoutError))
    return silent('does not answer in time: is it running, and does a firewall block it?')
  return silent(
    `does not answer (${messages === '' ? 'without a reason' : messages}): is it running?`,
  )
}

/** The server refused our user. */
function refusalOf({ natsCreds, natsLogin }: Attempt): string {
  if (natsLogin !== undefined)
    return `refuses the user "${natsLogin.user}": check NATS_USER and NATS_PASSWORD_FILE (or NATS_PASSWORD)`
  if (natsCreds !== undefined) return `refuses the credentials of ${natsCreds}: check NATS_CREDS`
  return 'requires a user: set NATS_USER and NATS_PASSWORD_FILE'
}

const distrustOf = (code: string, { natsPinFile }: Attempt): string =>
  natsPinFile === undefined
    ? `has a certificate that is not trusted here (${code}): set NATS_PIN_FILE to a file of that certificate, or NODE_EXTRA_CA_CERTS to one of its authority`
    : `has a certificate that is not the one in NATS_PIN_FILE ${natsPinFile} (${code})`

/** A denied publish or subscription, for people; undefined for any other error. */
export function denialInWords(error: unknown, user: string | undefined): string | undefined {
  const denied = chainOf(error).find((each) => each instanceof PermissionViolationError)
  if (!(denied instanceof PermissionViolationError)) return undefined
  const { operation, subject } = denied
  const what = operation === 'publish' ? 'publish to' : 'subscribe to'
  const who = user === undefined ? 'a client without a NATS user' : `the NATS user "${user}"`
  return `${who} may not ${what} ${subject}`
}

/** The error and its causes, outermost first. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < 5; each = each.cause)
    chain.push(each)
  return chain
}

/** What a person must do after a denial of one of our commands. */
export const asOperator =
  'commands are for the user operator: set NATS_USER=operator and NATS_PASSWORD_FILE to the file that `airproof access` made for it'

/** Without the password that an address may hold. */
export const shownUrl = (urls: string): string =>
  urls
    .split(',')
    .map((url) => url.trim().replace(/^([a-z]+:\/\/)[^/@]*@/, '$1'))
    .join(',')
