/** Which text the font of the pages can draw, where no other font can help: in pictures. */
import { fontLetters } from './web/fonts/letters.ts'

const known = new Set(Array.from(fontLetters + fontLetters.normalize('NFD')))

/** Letters that the font lacks would be left out of a picture without a word. */
export const canDraw = (text: string): boolean =>
  Array.from(text.normalize('NFC')).every(
    (letter) =>
      known.has(letter) || Array.from(letter.normalize('NFD')).every((part) => known.has(part)),
  )
