import { useState } from 'preact/hooks'
import { config } from '../me.ts'
import { Copy } from './copy.tsx'
import { type Language, languages, snippet } from './snippet.ts'

type SnippetsProps = {
  /** Below the API's address, such as `/v1/sensors?limit=5`. */
  readonly path: string
  /** Shown in place of the reader's key. */
  readonly apiKey?: string
}

/** The same call in curl, TypeScript and Python, with the address the reader can reach. */
export function Snippets({ path, apiKey = 'YOUR_API_KEY' }: SnippetsProps) {
  const [language, setLanguage] = useState<Language>('curl')
  const text = snippet(language, config.value.api + path, apiKey)
  return (
    <div class="snippets stack">
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
      <pre tabIndex={0} aria-label={`Example in ${language}`}>
        <code>{text}</code>
      </pre>
    </div>
  )
}
