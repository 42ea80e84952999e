/**
 * A process that writes to a SQLite store, for tests that need a second one:
 * `node store-writer.ts FILE SENSOR BATCHES SIZE`. Prints a line for each batch: `acknowledged N`
 * or `unavailable N`, N counting from 0.
 */
import type { Reading } from '../../core/air/reading.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { StoreUnavailable } from '../../store/store.ts'
import { batchOf } from './store-batches.ts'

const [file = '', sensor = '0', batches = '1', sizes = '1'] = process.argv.slice(2)
/** One size for all batches, or several in turn: `100,9000`. */
const sizeList = sizes.split(',').map(Number)

await using store = await openSqliteStore({ file })
for (let n = 0; n < Number(batches); n++) {
  console.log(await tell(batchOf(Number(sensor), n, sizeList[n % sizeList.length] ?? 1)), n)
}

async function tell(rows: readonly Reading[]): Promise<string> {
  try {
    await store.writeBatch(rows)
    return 'acknowledged'
  } catch (error) {
    if (error instanceof StoreUnavailable) return 'unavailable'
    throw error
  }
}
