import { useEffect, useRef, useState } from 'preact/hooks'
import type { Bundle } from './checked.tsx'

type DropProps = { readonly take: (bundle: Bundle) => void }

/** A proof is about 8 KB; a much larger file is not a proof, and would only stall the page. */
const mostBytes = 1_000_000

/** Takes a file by dropping it anywhere on the page, or by choosing it. */
export function DropFile({ take }: DropProps) {
  const [isOver, setIsOver] = useState(false)
  const [problem, setProblem] = useState('')
  const latest = useRef(take)
  latest.current = take
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    if (file.size > mostBytes) {
      setProblem('This file is too large for a proof.')
      return
    }
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      setProblem('')
      latest.current({ name: file.name, bytes })
    } catch {
      setProblem('This file cannot be read.')
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
    <section class={`drop ${isOver ? 'over' : ''}`} aria-labelledby="drop">
      <h2 id="drop">Check a proof you have</h2>
      <label class="field">
        Drop a .airproof.json file anywhere on this page, or choose one
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => void open(currentTarget.files?.[0])}
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
