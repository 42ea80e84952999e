import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import type { LicenceOf } from '../http/licence-link.ts'
import type { SensorBoard } from '../live/sensor-board.ts'

type Options = { readonly board: SensorBoard; readonly rules: SensorIdRules }

/** That of the sensor, if it has its own, else that of the network. */
export function licences({ board, rules }: Options, network: string | undefined): LicenceOf {
  const ownOf = (text: string): string | undefined => {
    const number = rules.shortNumber(text)
    const id = rules.parse(text) ?? (number === undefined ? undefined : board.withNumber(number)[0])
    return id && board.get(id)?.sensor.about?.licence
  }
  return (sensor) => {
    const own = sensor === undefined ? undefined : ownOf(sensor)
    if (own !== undefined) return { licence: own, of: 'sensor' }
    return network === undefined ? undefined : { licence: network, of: 'network' }
  }
}
