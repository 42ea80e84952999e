/** As npm writes it into a bill of materials. */
export type Component = {
  readonly name: string
  readonly version: string
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string }
    readonly expression?: string
  }[]
}

/** What may be among the packages that an operator downloads: all permit redistribution under our own licence. */
const permitted: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Unlicense',
]

const licenceOf = ({ licenses = [] }: Component): string =>
  licenses
    .map(({ license, expression }) => license?.id ?? license?.name ?? expression ?? '')
    .join(', ')

/** `(MIT OR GPL-2.0)` is permitted if one of them is, `MIT AND ISC` if both are. */
const isPermitted = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(/ AND |, /).every((one) => permitted.includes(one.trim())))

/** undefined: each has a licence that is permitted. */
export function faultOfLicences(components: readonly Component[]): string | undefined {
  const strange = components.filter((component) => !isPermitted(licenceOf(component)))
  if (strange.length === 0) return undefined
  const named = strange.map((one) => `${one.name} ${one.version} (${licenceOf(one) || 'none'})`)
  return `not among the permitted licences: ${named.join(', ')}`
}

export const licenceLines = (components: readonly Component[]): readonly string[] => [
  ...components.map((one) => `${one.name} ${one.version}: ${licenceOf(one)}`).toSorted(),
  '',
]
