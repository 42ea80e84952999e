import { localeOf } from '../../texts/languages.ts'
import { format as formats, language, texts } from '../texts.ts'

export const words = texts.charts
export const format = { ...formats, locale: localeOf[language] } as const
