const turningOrUnseen = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/** Untrusted text on one line, without invisible characters or any that change the writing direction. */
export const onOneLine = (text: string): string =>
  text.replaceAll(turningOrUnseen, ' ').replaceAll(/ +/g, ' ').trim()

/**
 * Whether a name can be shown among others as it is: on one line, without a change of the writing
 * direction, well-formed, and with something visible.
 */
export const isPlainName = (name: string): boolean =>
  name.isWellFormed() &&
  name.search(turningOrUnseen) === -1 &&
  /[^\p{Default_Ignorable_Code_Point}\s]/u.test(name)
