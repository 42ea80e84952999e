/** A text of a stranger's on one line, and without what turns writing around or cannot be seen. */
export const onOneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim()
