/**
 * Untrusted text on a terminal. A terminal obeys what it prints: bytes of a sensor or a customer
 * could write to the clipboard, fake lines, or change the writing direction. Control and invisible
 * characters are printed as `\u001b`, as in JSON, so JSON printed this way keeps its meaning.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const unseenButBreaks = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Line breaks and tabs stay. */
export const shownText = (text: string): string => text.replaceAll(unseenButBreaks, escaped)

/** One line, whatever is in it. */
export const shownLine = (text: string): string => text.replaceAll(unseen, escaped)

const escaped = (unseenText: string): string =>
  Array.from(
    { length: unseenText.length },
    (_, i) => `\\u${unseenText.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
