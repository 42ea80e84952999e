/**
 * A text with links or marks in it: `No account? {signUp:Sign up}` and
 * `Only {command} can change it`. The page gives what each name is made into.
 * @throws Error for a name that was not given
 */
export function fill<T>(
  text: string,
  parts: Readonly<Record<string, (label: string) => T>>,
): readonly (T | string)[] {
  return text
    .split(/(\{\w+(?::[^}]*)?\})/)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const [, name, label = ''] = /^\{(\w+)(?::([^}]*))?\}$/.exec(piece) ?? []
      if (name === undefined) return piece
      const make = parts[name]
      if (make === undefined) throw new Error(`the text has a part that is not given: ${name}`)
      return make(label)
    })
}
