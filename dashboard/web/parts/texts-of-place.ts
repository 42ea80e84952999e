import type { PlaceTexts } from '../../place-words.ts'
import { format, texts } from '../texts.ts'

export const placeTexts: PlaceTexts = {
  city: texts.city,
  categories: texts.common.categories,
  format,
}
