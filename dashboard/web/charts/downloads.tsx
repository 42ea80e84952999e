import { useState } from 'preact/hooks'
import { Failed } from '../parts/states.tsx'
import type { Loaded } from './loaded.ts'
import { spanText } from './period-bar.tsx'
import { savePicture } from './picture.ts'
import { words } from './words.ts'

type DownloadsProps = {
  readonly loaded: Loaded
  /** The id or name of what the page is about. */
  readonly title: string
  readonly names: readonly string[]
  readonly pictures: ReadonlyMap<string, HTMLCanvasElement>
}

/** Exactly what is on show: its numbers by the API, and its picture with where it comes from. */
export function Downloads({ loaded, title, names, pictures }: DownloadsProps) {
  const [error, setError] = useState<unknown>()
  const { own, others } = loaded
  const all = [
    { id: title, asked: own },
    ...others.flatMap(({ asked }) => (asked === undefined ? [] : [{ id: asked.name, asked }])),
  ]
  return (
    <div class="row" role="group" aria-label={words.download.label}>
      {all.map(({ id, asked }) => (
        <a key={id} class="button quiet" href={asked.csv} download={`${fileName(id)}.csv`}>
          {all.length === 1 ? words.download.csv : words.download.csvOf(id)}
        </a>
      ))}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          const drawn = names.flatMap((name) => {
            const canvas = pictures.get(name)
            return canvas === undefined ? [] : [{ name, canvas }]
          })
          const heading = all.map(({ id }) => id)
          const span = spanText(own.shown, loaded.zone)
          savePicture({ heading, span, zone: loaded.zone, drawn, fileName: fileName(title) }).then(
            () => setError(undefined),
            setError,
          )
        }}
      >
        {words.download.png}
      </button>
      {error !== undefined && <Failed error={error} />}
    </div>
  )
}

const fileName = (text: string): string => text.replaceAll(/[^\p{L}\p{N}-]+/gu, '-')
