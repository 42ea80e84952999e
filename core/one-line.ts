const turningOrUnseen = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/** A text of a stranger's on one line, and without what turns writing around or cannot be seen. */
export const onOneLine = (text: string): string =>
  text.replaceAll(turningOrUnseen, ' ').replaceAll(/ +/g, ' ').trim()

/**
 * Whether a name can be shown beside others as it is: on one line, turning no writing around, whole
 * characters, and something to be seen.
 */
export const isPlainName = (name: string): boolean =>
  name.isWellFormed() &&
  name.search(turningOrUnseen) === -1 &&
  /[^\p{Default_Ignorable_Code_Point}\s]/u.test(name)
