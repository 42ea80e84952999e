/** HTML with automatic escaping: what is in `${}` is text unless it was made here. */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | false | undefined | readonly Part[]

/** `html\`<p>${name}</p>\`` */
export const html = (fixed: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(
    fixed.slice(1).reduce((text, next, i) => text + written(parts[i]) + next, fixed[0] ?? ''),
  )

function written(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === undefined || part === false) return ''
  if (typeof part === 'string') return escape(part)
  return typeof part === 'number' ? String(part) : part.map(written).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const escape = (text: string): string =>
  text.replaceAll(/[&<>"'`]/g, (letter) => entities[letter] ?? letter)
