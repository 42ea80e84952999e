/** What the font of the pages has; other letters are shown in a font of the reader's system. */
const between = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)).join('')

const ascii = between(0x20, 0x7e)
/** French but for Œ and Ÿ, and the signs of units. */
const latin1 = between(0xa0, 0xff)
const french = 'ŒœŸ'
/** Letters that Latin 1 lacks; the marks of tones are combined with them. */
const yoruba = 'ẸẹỌọṢṣǸǹḾḿ'
const igbo = 'ỊịỌọỤụṄṅŃńǸǹḾḿ'
const hausa = 'ƁɓƊɗƘƙƳƴʼ'
const tones = '\u0300\u0301\u0304\u0323'
const signs = '–—‘’“”„…•‹›€₦−×÷≈≠≤≥←↑→↓✓·′″₂₃µμ\u2009\u202f\u2011'

export const fontLetters = ascii + latin1 + french + yoruba + igbo + hausa + tones + signs
