import { catalogue } from '../texts/fr/public.ts'

globalThis.airproofTexts = { language: 'fr', texts: catalogue }
