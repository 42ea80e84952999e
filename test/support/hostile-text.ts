/** Writes the clipboard, clears the screen, sets the title, fakes a line, changes the writing direction. */
export const hostileText =
  'a\u001b]52;c;ZXZpbA==\u0007b\u001b[2J\u009b31mc\u001b]0;owned\u001b\\\r\nfaked\u202edrow\u2066\u200f\u0085\u2028end'

/** Everything that a terminal obeys or cannot show, except line breaks and tabs. */
export const terminalCodes = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
