import { InLanguages } from '../../parts/in-languages.tsx'
import { verifySnippet } from './verify-snippet.ts'

const languages = ['TypeScript', 'Python'] as const

/** How a receiver distinguishes our deliveries from those of others. */
export const VerifyHelp = () => (
  <div class="stack">
    <InLanguages languages={languages} textIn={verifySnippet} label="How to check the signature" />
    <p class="hint">
      Answer with any 2xx within 15 seconds. A delivery may come more than once, with the same{' '}
      <code>webhook-id</code>: drop what you have seen. Libraries of{' '}
      <a href="https://www.standardwebhooks.com" rel="noreferrer">
        Standard Webhooks
      </a>{' '}
      check it too.
    </p>
  </div>
)
