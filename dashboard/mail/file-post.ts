import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onOneLine } from '../../core/one-line.ts'
import type { ComposedMail } from './compose.ts'
import type { Post } from './post.ts'

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
