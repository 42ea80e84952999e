import { accountTexts } from '../../../account-texts.ts'
import { Filled } from '../../../parts/filled.tsx'
import { InLanguages } from '../../../parts/in-languages.tsx'
import { verifySnippet } from './verify-snippet.ts'

const { verify: words } = accountTexts.webhooks
const languages = ['TypeScript', 'Python'] as const

/** How a receiver distinguishes our deliveries from those of others. */
export const VerifyHelp = () => (
  <div class="stack">
    <InLanguages languages={languages} textIn={verifySnippet} label={words.label} />
    <p class="hint">
      <Filled
        text={words.words}
        parts={{
          id: () => <code>webhook-id</code>,
          standard: (label) => (
            <a href="https://www.standardwebhooks.com" rel="noreferrer">
              {label}
            </a>
          ),
        }}
      />
    </p>
  </div>
)
