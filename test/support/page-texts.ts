/** What the server writes into each page before its scripts: here in English. */
import { catalogue } from '../../dashboard/texts/en/public.ts'

Object.assign(globalThis, { airproofTexts: { language: 'en', texts: catalogue } })

// after that line, which it needs
const { loadAccountTexts } = await import('../../dashboard/web/account-texts.ts')
await loadAccountTexts()
