/** Sends composed mails: to a mail server, or, where there is none, into files. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { judgeAddress } from '../../core/access/public-address.ts'
import { onOneLine } from '../../core/one-line.ts'
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

const mostFiles = 200

/**
 * Files `<time>-<number>.eml` that any mail program opens and `cat` shows as they are: only text,
 * without a transfer encoding. The oldest are deleted if there are many.
 */
export function filePost(folder: string, nowMs: () => number): Post {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let count = 0
  return {
    send: async (mail) => {
      const now = new Date(nowMs())
      const time = now.toISOString().replaceAll(':', '-')
      const file = join(folder, `${time}-${process.pid}-${String(++count).padStart(4, '0')}.eml`)
      writeFileSync(file, textOf(mail, now), { mode: 0o600 })
      const files = readdirSync(folder)
        .filter((name) => name.endsWith('.eml'))
        .toSorted()
      for (const old of files.slice(0, -mostFiles)) rmSync(join(folder, old), { force: true })
      return { outcome: 'sent', where: file }
    },
    [Symbol.dispose]: () => undefined,
  }
}

/** RFC 5322, with UTF-8 as it is in the headers too (RFC 6532). */
function textOf({ messageId, from, to, subject, text, headers }: ComposedMail, now: Date): string {
  const fields = {
    From: from,
    To: to.address,
    Subject: subject,
    Date: now.toUTCString().replace('GMT', '+0000'),
    'Message-ID': messageId,
    ...headers,
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Transfer-Encoding': '8bit',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${onOneLine(value)}`)
  return `${lines.join('\n')}\n\n${text}`
}
