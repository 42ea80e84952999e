import { useState } from 'preact/hooks'
import { getJson } from '../data.ts'
import { useAddress } from '../parts/address-state.ts'
import { type Target, targetKey } from './ask-series.ts'
import { comparedIds, mostOthers } from './compared-ids.ts'
import type { Other } from './loaded.ts'
import { words } from './words.ts'

type PickerProps = { readonly target: Target; readonly others: readonly Other[] }
/** By its key it is asked for; the name is what people know it by, `more` what tells it apart. */
type Known = { readonly key: string; readonly name: string; readonly more?: string }
type List = { readonly all: readonly Known[]; readonly isWhole: boolean }

type Sensors = {
  readonly sensors: readonly { readonly id: string; readonly area?: string }[]
  readonly next_cursor: string | null
}
type Areas = { readonly areas: readonly { readonly name: string; readonly slug: string }[] }

async function listOf(kind: Target['kind']): Promise<List> {
  if (kind === 'area') {
    const { areas } = await getJson<Areas>('/data/v1/areas')
    return { all: areas.map(({ name, slug }) => ({ key: slug, name })), isWhole: true }
  }
  const { sensors, next_cursor: next } = await getJson<Sensors>('/data/v1/sensors?limit=1000')
  const all = sensors.map(({ id, area = '' }) => ({ key: id, name: id, more: area }))
  return { all, isWhole: next === null }
}

/** Puts up to three others beside this one. Their list is asked for when it is wanted. */
export function ComparePicker({ target, others }: PickerProps) {
  const [text, setText] = useAddress('compare')
  const own = targetKey(target)
  const { kind } = target
  const [known, setKnown] = useState<List>()
  const [wrong, setWrong] = useState<string>()
  const ids = comparedIds(text, own)
  const list = async (): Promise<List> => {
    if (known !== undefined) return known
    const listed = await listOf(kind)
    setKnown(listed)
    return listed
  }
  const set = (next: readonly string[]): void => setText(next.join(), { push: true })
  const add = async (given: string): Promise<void> => {
    // a list that does not come, or is one page of many, refuses nothing: the chart says what is wrong with the id
    const listed = await list().catch(() => undefined)
    const wanted = given.toLowerCase()
    const found = listed?.all.find(
      ({ key, name }) => name.toLowerCase() === wanted || key.toLowerCase() === wanted,
    )
    const isUnknown = listed?.isWhole === true && found === undefined
    setWrong(isUnknown ? words.compare.unknown[kind](given) : undefined)
    if (!isUnknown && found?.name !== own) set([...ids, found?.key ?? given])
  }
  return (
    <section class="compare" aria-labelledby="compare">
      <h3 id="compare">
        {words.compare.title} <span class="hint">{words.compare.hint[kind]}</span>
      </h3>
      <ul class="compared">
        {(ids.length > 0 ? [own, ...ids] : []).map((one, place) => {
          const other = others.find((known) => known.id === one)
          const name = other?.asked?.name ?? one
          return (
            <li key={one}>
              <Stroke place={place} /> <span class={kind === 'sensor' ? 'mono' : ''}>{name}</span>
              {other?.error !== undefined && (
                <span class="error"> {words.compare.failed(name)}</span>
              )}
              {place > 0 && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={words.compare.remove(name)}
                  onClick={() => set(ids.filter((kept) => kept !== one))}
                >
                  ×
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {ids.length >= mostOthers ? (
        <p class="hint">{words.compare.full}</p>
      ) : (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault()
            const form = event.currentTarget
            const given = new FormData(form).get('other')
            if (typeof given !== 'string' || given.trim() === '') return
            void add(given.trim()).then(() => form.reset())
          }}
        >
          <input
            name="other"
            list="compare-others"
            aria-label={words.compare.label[kind]}
            placeholder={words.compare.label[kind]}
            autoComplete="off"
            onFocus={() => void list().catch(() => undefined)}
          />
          <datalist id="compare-others">
            {known?.all
              .filter(({ key, name }) => name !== own && !ids.includes(key))
              .map(({ key, name, more }) => (
                <option key={key} value={name}>
                  {more}
                </option>
              ))}
          </datalist>
          <button type="submit">{words.compare.add}</button>
        </form>
      )}
      {wrong !== undefined && (
        <p class="error" role="alert">
          {wrong}
        </p>
      )}
    </section>
  )
}

/** How a sensor's line looks. */
const Stroke = ({ place }: { readonly place: number }) => (
  <svg class="stroke" viewBox="0 0 28 8" aria-hidden="true">
    <line class={`stroke-${place}`} x1="0" x2="28" y1="4" y2="4" />
  </svg>
)
