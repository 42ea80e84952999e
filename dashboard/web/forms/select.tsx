import { useId } from 'preact/hooks'

type SelectProps<T extends string> = {
  readonly label: string
  /** Where what is chosen says it to eyes. */
  readonly isLabelHidden?: boolean
  readonly value: T
  /** Each with its words. */
  readonly choices: readonly (readonly [T, string])[]
  readonly onValue: (value: T) => void
}

/** One of a few. */
export function Select<T extends string>({
  label,
  isLabelHidden = false,
  value,
  choices,
  onValue,
}: SelectProps<T>) {
  const id = useId()
  return (
    <div class={isLabelHidden ? undefined : 'field'}>
      <label for={id} class={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => {
          const choice = choices.find(([name]) => name === currentTarget.value)
          if (choice !== undefined) onValue(choice[0])
        }}
      >
        {choices.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </div>
  )
}
