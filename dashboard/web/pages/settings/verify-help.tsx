import { useState } from 'preact/hooks'
import { Copy } from '../../parts/copy.tsx'
import { verifySnippet } from './verify-snippet.ts'

const languages = ['TypeScript', 'Python'] as const

/** How a receiver tells our deliveries from anyone else’s. */
export function VerifyHelp() {
  const [language, setLanguage] = useState<(typeof languages)[number]>('TypeScript')
  const text = verifySnippet(language)
  return (
    <div class="stack">
      <div class="row between">
        <div class="row" role="group" aria-label="Language">
          {languages.map((name) => (
            <button
              key={name}
              type="button"
              class={name === language ? '' : 'quiet'}
              aria-pressed={name === language}
              onClick={() => setLanguage(name)}
            >
              {name}
            </button>
          ))}
        </div>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} aria-label={`How to check the signature in ${language}`}>
        <code>{text}</code>
      </pre>
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
}
