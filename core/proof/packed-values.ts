import { mostValues, type Values } from '../air/values.ts'
import { putInteger } from './words.ts'

const idBytes = 2
const packedBytes = idBytes + 8

/**
 * @returns a function that gives the values of a reading as leaf 2 hashes them: for each that is there,
 * ascending by id, `uint16 id ‖ int64 hundredths`, big-endian. Its result holds until the next call.
 * It throws RangeError for a value that is not a whole number, or has an id that is not known here.
 */
export function packedValues(): (values: Values) => Uint8Array {
  const bytes = new Uint8Array(mostValues * packedBytes)
  const view = new DataView(bytes.buffer)
  const parts = Array.from({ length: mostValues + 1 }, (_, count) =>
    bytes.subarray(0, count * packedBytes),
  )
  return (values) => {
    let count = 0
    for (let id = 0; id < values.length; id++) {
      const value = values[id] ?? null
      if (value === null) continue
      if (id >= mostValues) throw new RangeError(`a leaf cannot hold a quantity of id ${id}`)
      view.setUint16(count * packedBytes, id)
      putInteger(view, count * packedBytes + idBytes, value)
      count++
    }
    return parts[count] ?? bytes
  }
}
