/**
 * Text of others on a terminal. A terminal obeys what it is shown: bytes of a sensor or a customer
 * could write the clipboard, fake lines, or turn writing around. Controls and what cannot be seen
 * come as `\u001b`, as JSON has them, so JSON that goes this way still says the same.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const unseenButBreaks = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Line breaks and tabs stay. */
export const shownText = (text: string): string => text.replaceAll(unseenButBreaks, escaped)

/** One line, whatever is in it. */
export const shownLine = (text: string): string => text.replaceAll(unseen, escaped)

const escaped = (found: string): string =>
  Array.from(
    { length: found.length },
    (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
