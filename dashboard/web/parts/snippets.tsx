import { config } from '../me.ts'
import { texts } from '../texts.ts'
import { InLanguages } from './in-languages.tsx'
import { languages, snippet } from './snippet.ts'

type SnippetsProps = {
  /** Below the API's address, such as `/v1/sensors?limit=5`. */
  readonly path: string
  /** Shown in place of the reader's key. */
  readonly apiKey?: string
}

/** The same call in curl, TypeScript and Python, with the address the reader can reach. */
export const Snippets = ({ path, apiKey = 'YOUR_API_KEY' }: SnippetsProps) => (
  <div class="snippets stack">
    <InLanguages
      languages={languages}
      textIn={(language) => snippet(language, config.value.api + path, apiKey)}
      label={texts.common.code.example}
    />
  </div>
)
