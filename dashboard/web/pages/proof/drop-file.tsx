import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../texts.ts'
import { type Bundle, mostBytes } from './bundle.ts'

type DropProps = { readonly take: (bundle: Bundle) => void }

/** Takes a file by dropping it anywhere on the page, or by choosing it. */
export function DropFile({ take }: DropProps) {
  const { drop, invalid } = texts.proof
  const [isOver, setIsOver] = useState(false)
  const [problem, setProblem] = useState('')
  const latest = useRef(take)
  latest.current = take
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    if (file.size > mostBytes) {
      setProblem(`${drop.file(file.name)}. ${invalid.tooLarge}`)
      return
    }
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      setProblem('')
      latest.current({ name: file.name, bytes, isBrought: true })
    } catch {
      setProblem(drop.unreadable)
    }
  }
  useEffect(() => {
    const stop = new AbortController()
    const on = (name: 'dragover' | 'dragleave' | 'drop'): void =>
      document.addEventListener(
        name,
        (event) => {
          event.preventDefault()
          setIsOver(name === 'dragover')
          if (name === 'drop') void open(event.dataTransfer?.files[0])
        },
        { signal: stop.signal },
      )
    on('dragover')
    on('dragleave')
    on('drop')
    return () => stop.abort()
  }, [])
  return (
    <section class={`proof-drop ${isOver ? 'over' : ''}`} aria-labelledby="proof-drop">
      <h2 id="proof-drop">{drop.title}</h2>
      <label class="field">
        {drop.label}
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            void open(currentTarget.files?.[0])
            // the same file, edited, can be chosen again
            currentTarget.value = ''
          }}
        />
      </label>
      {problem !== '' && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
