import { type QuantityName, units } from '../../../../core/air/quantities.ts'
import { texts } from '../../texts.ts'

const { names }: { readonly names: Readonly<Record<string, Names>> } = texts.quantities
type Names = { readonly short: string; readonly long: string }

/** How people call a quantity, in a word and with what it is; one of a newer table by its name. */
export const namesOf = (name: string): Names => names[name] ?? { short: name, long: name }

const own: Partial<Readonly<Record<QuantityName, string>>> = texts.quantities.units

/** As the page's language writes it. */
export const unitOf = (name: QuantityName): string => own[name] ?? units[name]
