/** Where composed mails go: to a mail server, or, where there is none, into files. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { secondMs } from '../../core/time.ts'
import { codeOf, inWords } from '../../runtime/exit.ts'
import type { ComposedMail } from './compose.ts'

export type Posted =
  | { readonly outcome: 'sent'; readonly where: string }
  /** For good: the server does not want this mail for this address. */
  | { readonly outcome: 'refused'; readonly why: string }
  /** The server is away, slow, or does not like us: later perhaps. */
  | { readonly outcome: 'later'; readonly why: string }

export type Post = Disposable & { readonly send: (mail: ComposedMail) => Promise<Posted> }

/** Ms without an answer, at each step. */
export type SmtpPatience = { readonly connectMs: number; readonly silentMs: number }

const usualPatience: SmtpPatience = { connectMs: 10 * secondMs, silentMs: 30 * secondMs }

/** @param url with user and password, which are never logged */
export function smtpPost(url: string, { connectMs, silentMs } = usualPatience): Post {
  const transport = createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async (mail) => {
      try {
        await transport.sendMail({ ...mail, headers: { ...mail.headers } })
        return { outcome: 'sent', where: new URL(url).hostname }
      } catch (error) {
        const why = inWords(error).slice(0, 300)
        return { outcome: isRefusal(error) ? 'refused' : 'later', why }
      }
    },
    [Symbol.dispose]: () => transport.close(),
  }
}

/** A 5xx to the recipient or to the mail itself. To our sign-in or sender it is for us to mend. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { responseCode, command } = Object.assign({ responseCode: 0, command: '' }, error)
  const isForGood = responseCode >= 500 && responseCode < 600
  if (codeOf(error) === 'EENVELOPE')
    return command === 'API' || (isForGood && command === 'RCPT TO')
  return isForGood && codeOf(error) === 'EMESSAGE'
}

const mostFiles = 200

/** Files `<time>-<number>.eml` that any mail program opens; the oldest go where there are many. */
export function filePost(folder: string, nowMs: () => number): Post {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  let count = 0
  return {
    send: async (mail) => {
      const { message } = await transport.sendMail({ ...mail, headers: { ...mail.headers } })
      const time = new Date(nowMs()).toISOString().replaceAll(':', '-')
      const file = join(folder, `${time}-${process.pid}-${String(++count).padStart(4, '0')}.eml`)
      writeFileSync(file, Buffer.isBuffer(message) ? message : '', { mode: 0o600 })
      const files = readdirSync(folder)
        .filter((name) => name.endsWith('.eml'))
        .toSorted()
      for (const old of files.slice(0, -mostFiles)) rmSync(join(folder, old), { force: true })
      return { outcome: 'sent', where: file }
    },
    [Symbol.dispose]: () => transport.close(),
  }
}
