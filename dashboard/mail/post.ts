/** Sends composed mails to a mail server. Where there is none, they go into files (`file-post.ts`). */
import { createTransport } from 'nodemailer'
import { judgeAddress } from '../../core/access/public-address.ts'
import { secondMs } from '../../core/time.ts'
import { codeOf, inWords } from '../../runtime/exit.ts'
import type { ComposedMail } from './compose.ts'

export type Posted =
  | { readonly outcome: 'sent'; readonly where: string }
  /** Permanently: the server does not accept this mail for this address. */
  | { readonly outcome: 'refused'; readonly why: string }
  /** The server is away, slow, or does not accept us now: tried again. */
  | { readonly outcome: 'later'; readonly why: string }

export type Post = Disposable & { readonly send: (mail: ComposedMail) => Promise<Posted> }

/** Ms without an answer, at each step. */
export type SmtpPatience = { readonly connectMs: number; readonly silentMs: number }

const usualPatience: SmtpPatience = { connectMs: 10 * secondMs, silentMs: 30 * secondMs }

type SmtpOptions = SmtpPatience & {
  /** Mails, and the password to the server, may be read on the way to it. */
  readonly allowPlain: boolean
}

/** On this machine there is no network on which it could be read. */
function isHere({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || judgeAddress(name) === 'loopback'
}

/**
 * To another machine over TLS only: an attacker in between could else strip STARTTLS, and read each
 * link and the server's password.
 * @param given with user and password, which are never logged; read for each email, as it may be rotated
 */
export function smtpPost(given: string | (() => string), options: Partial<SmtpOptions> = {}): Post {
  const urlNow = typeof given === 'string' ? () => given : given
  let url = urlNow()
  let open = openTransport(url, options)
  const openNow = () => {
    const next = urlNow()
    if (next !== url) {
      open.transport.close()
      open = openTransport(next, options)
    }
    url = next
    return open
  }
  return {
    send: async (mail) => {
      const { server, transport } = openNow()
      try {
        await transport.sendMail({ ...mail, headers: { ...mail.headers } })
        return { outcome: 'sent', where: server.hostname }
      } catch (error) {
        return { outcome: isRefusal(error) ? 'refused' : 'later', why: whyNot(server, error) }
      }
    },
    [Symbol.dispose]: () => open.transport.close(),
  }
}

/** Signs in, and sends nothing. @returns why emails cannot be sent; undefined: they can */
export async function smtpTrouble(
  url: string,
  options: Partial<SmtpOptions> = {},
): Promise<string | undefined> {
  const { server, transport } = openTransport(url, options)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    return whyNot(server, error)
  } finally {
    transport.close()
  }
}

const whyNot = (server: URL, error: unknown): string =>
  (codeOf(error) === 'ETLS' ? noTls(server, error) : inWords(error)).slice(0, 600)

function openTransport(url: string, options: Partial<SmtpOptions>) {
  const { connectMs, silentMs, allowPlain = false } = { ...usualPatience, ...options }
  const server = new URL(url)
  // within the address: its parameters override options
  if (!allowPlain && !isHere(server)) server.searchParams.set('requireTLS', 'true')
  const transport = createTransport({
    url: server.href,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return { server, transport }
}

const noTls = ({ hostname }: URL, error: unknown): string =>
  `${hostname} offers no TLS (${inWords(error)}), so nothing was sent to it: use a server with STARTTLS or smtps://, or set AIRPROOF_ALLOW_PLAIN_SMTP=1 where the network in between is your own`

/** A 5xx to the recipient or to the mail itself. One to our sign-in or sender is ours to fix. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { responseCode, command } = Object.assign({ responseCode: 0, command: '' }, error)
  const isForGood = responseCode >= 500 && responseCode < 600
  if (codeOf(error) === 'EENVELOPE')
    return command === 'API' || (isForGood && command === 'RCPT TO')
  return isForGood && codeOf(error) === 'EMESSAGE'
}
