import { useId } from 'preact/hooks'
import { getJson } from '../../../data.ts'
import { Field, type FieldProps } from '../../../forms/field.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'

type PickerProps = Omit<FieldProps, 'input'> & {
  readonly maxLength: number
  /** What the network has; another text may be typed all the same. */
  readonly choices: readonly { readonly value: string; readonly words?: string }[]
}

/** A field that offers what fits to what is typed. */
export function Picker({ choices, maxLength, ...field }: PickerProps) {
  const id = useId()
  return (
    <>
      <Field {...field} input={{ maxLength, list: id, autoComplete: 'off' }} />
      <datalist id={id}>
        {choices.map(({ value, words }) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** As many as one answer of the API has. */
const mostOffered = 1_000

type Sensors = {
  readonly sensors: readonly {
    readonly id: string
    readonly area: string
    readonly location: { readonly address: string }
  }[]
}
type Areas = { readonly areas: readonly { readonly name: string }[] }

/** @param area only those in it, where it is one of the network's */
export function useSensorChoices(area: string): PickerProps['choices'] {
  const query = new URLSearchParams({ limit: String(mostOffered), ...(area && { area }) })
  const answer = useAnswer(
    (signal) => getJson<Sensors>(`/data/v1/sensors?${query}`, { signal }),
    [area],
  )
  return (answer.value?.sensors ?? []).map(({ id, area: of, location }) => ({
    value: id,
    words: `${location.address || of}`,
  }))
}

export function useAreaChoices(): PickerProps['choices'] {
  const answer = useAnswer((signal) => getJson<Areas>('/data/v1/areas', { signal }), [])
  return (answer.value?.areas ?? []).map(({ name }) => ({ value: name }))
}
