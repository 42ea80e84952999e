import { catalogue } from '../texts/en/public.ts'

globalThis.airproofTexts = { language: 'en', texts: catalogue }
