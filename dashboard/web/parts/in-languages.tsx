import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Copy } from './copy.tsx'

type InLanguagesProps<L extends string> = {
  /** The first one is shown at the start. */
  readonly languages: readonly [L, ...L[]]
  readonly textIn: (language: L) => string
  /** What the text is, before "in" and the language. */
  readonly label: string
}

/** The same code in one of several languages, to be copied. */
export function InLanguages<L extends string>({ languages, textIn, label }: InLanguagesProps<L>) {
  const [language, setLanguage] = useState<L>(languages[0])
  const text = textIn(language)
  return (
    <>
      <div class="row between">
        <div class="row" role="group" aria-label={texts.common.code.language}>
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
      <pre tabIndex={0} aria-label={texts.common.code.in(label, language)}>
        <code>{text}</code>
      </pre>
    </>
  )
}
