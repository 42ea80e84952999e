import type { Mutant, RowMutants } from '../mutant.ts'

const bulk = 'gate/push/bulk-endpoint.ts'
const tests = ['stack/gate-push-bulk']

/** What a gateway may send of whose readings, and in messages of what size. */
export const gatewayMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a gateway sends for any sensor',
    file: bulk,
    text: 'sensors !== undefined && !sensors.some((start) => named.startsWith(start))',
    becomes: 'sensors !== undefined && !sensors.some((start) => start.length > named.length)',
    tests,
  },
  {
    name: 'a reading in bulk does not name its sensor',
    file: bulk,
    text: '{ sensor_id: sensor.id, ...judged.good }',
    becomes: 'judged.good',
    tests,
  },
  {
    name: 'a raw message of bulk is of several partitions',
    file: bulk,
    text: 'partitionOf(id))\n',
    becomes: 'partitionOf(id.slice(0, 1)))\n',
    tests,
  },
  {
    name: 'a raw message of bulk has any size',
    file: bulk,
    text: 'open.length < mostItems && bytes + size < maxRawBytes',
    becomes: 'bytes + size > 0',
    tests,
  },
  {
    name: 'a sensor that floods keeps a gateway from the others',
    file: bulk,
    text: '      good.delete(id)\n',
    becomes: '      throw thrown\n',
    tests,
  },
  {
    name: 'a line that is not JSON spoils the others',
    file: bulk,
    text: 'value: jsonOr(line)',
    becomes: 'value: JSON.parse(line)',
    tests,
  },
  {
    name: 'a fault in bulk is not at its place',
    file: bulk,
    text: 'faults.push({ item, ...judged })',
    becomes: 'faults.push({ item: item + 1, ...judged })',
    tests,
  },
]
