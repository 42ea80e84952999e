/** The texts of what the server writes about places, in the language of the reader. */
import type { Context } from 'koa'
import type { PlaceTexts } from '../../place-words.ts'
import { type Words, wordsOf } from '../language.ts'

export type Texts = PlaceTexts & Words

export function wordsFor(ctx: Context): Texts {
  const words = wordsOf(ctx)
  return { ...words, categories: words.common.categories }
}
