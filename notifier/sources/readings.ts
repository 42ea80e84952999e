/** Source `readings`: the log itself, as far back as it is stored. */
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readingsStream, readingsSubjects } from '../../schemas/subjects.ts'
import { type LogReadings, matchReadings } from './log-readings.ts'
import { occurrenceOfReading } from './payload.ts'
import type { Source, SourceContext } from './source.ts'
import { commonOf, streamItems } from './stream-items.ts'

export function readingsSource(
  { nc, sensorOf, keccak }: SourceContext,
  readings: LogReadings,
): Source {
  return {
    name: 'readings',
    ...streamItems(nc, {
      stream: readingsStream,
      subjects: readingsSubjects,
      maxMessages: 4,
      itemReader: () => {
        const read = logReader(nc)
        return async (message) => {
          const accepted = (await read(message))?.readings ?? []
          readings.put(message.seq, accepted)
          return {
            source: 'readings',
            ...commonOf(message),
            match: (index, on) => matchReadings('reading.new', accepted, index, on),
          }
        }
      },
    }),
    occurrence: async ({ kind, sequence, detail }) => {
      if (kind !== 'reading.new') return undefined
      const reading = (await readings.get(sequence))?.[detail]
      return reading && occurrenceOfReading(reading, sensorOf(reading.sensor), keccak)
    },
  }
}
