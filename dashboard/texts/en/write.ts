import { formatsOf } from '../format.ts'

/** For the texts of this folder. */
export const { number, count, noun, list } = formatsOf('en')
