import { mostValues } from '../../core/air/values.ts'
import { type Format, formats, NewerFormat } from '../formats.ts'

/** The version is known, but an airproof with a longer table of quantities wrote it. */
export class UnknownQuantities extends NewerFormat {
  constructor(format: Format, count: number) {
    const { is, newest } = formats[format]
    super(format, newest)
    this.message = `${is} has ${count} quantities, and this airproof knows ${mostValues}: use the airproof that wrote it, or a later one (docs/upgrading.md)`
  }
}

/** @throws UnknownQuantities */
export function assertKnownQuantities(format: Format, count: number): void {
  if (count > mostValues) throw new UnknownQuantities(format, count)
}
