import { createHash } from 'node:crypto'
import { html } from '../server/html.ts'
import type { Letter } from './letter.ts'

/** As nodemailer takes it. */
export type ComposedMail = {
  readonly messageId: string
  readonly from: string
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

type Address = {
  /** The mail's own: sent twice, it has the same Message-ID. */
  readonly id: string
  readonly from: string
  readonly to: string
  readonly dashboard: string
}

/** The same words as plain text and as HTML. */
export function composeMail(letter: Letter, { id, from, to, dashboard }: Address): ComposedMail {
  const { language, subject, paragraphs, action, after = [] } = letter
  const name = createHash('sha256').update(id).digest('hex').slice(0, 32)
  return {
    messageId: `<${name}@${new URL(dashboard).hostname}>`,
    from,
    // as an object: an address is never parsed as a list of addresses
    to: { name: '', address: to },
    subject,
    text: [
      ...paragraphs,
      ...(action ? [`${action.label}:\n${action.link}`] : []),
      ...after,
      `-- \nairproof, ${dashboard}`,
    ]
      .join('\n\n')
      .concat('\n'),
    html: html`<!doctype html>
<html lang="${language}"><body style="font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:0 auto;padding:1em">
${paragraphs.map((text) => html`<p>${text}</p>\n`)}
${action && html`<p><a href="${action.link}" style="display:inline-block;padding:.6em 1em;border-radius:.5em;background:#0b5cc2;color:#fff;text-decoration:none">${action.label}</a></p>\n<p style="font-size:.85em">${action.link}</p>`}
${after.map((text) => html`<p>${text}</p>\n`)}
<p style="color:#51606e;font-size:.85em">airproof, ${dashboard}</p>
</body></html>
`.text,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}
