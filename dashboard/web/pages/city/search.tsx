import { useEffect, useRef } from 'preact/hooks'
import { useAddress } from '../../parts/address-state.ts'
import { texts } from '../../texts.ts'

/** So long after a press, nobody types on. */
const pauseMs = 150

/** A letter is on the screen at once; the list and the map follow when the reader pauses. */
export function Search() {
  const [search, setSearch] = useAddress('search')
  const box = useRef<HTMLInputElement>(null)
  const sent = useRef(search)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // the address was changed by another: a step back, a link
    if (box.current !== null && search !== sent.current) box.current.value = search
    sent.current = search
  }, [search])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <label>
      <span class="visually-hidden">{texts.city.search}</span>
      <input
        ref={box}
        type="search"
        placeholder={texts.city.search}
        defaultValue={search}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(timer.current)
          timer.current = setTimeout(() => {
            sent.current = value
            setSearch(value)
          }, pauseMs)
        }}
      />
    </label>
  )
}
