import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('many that make a new file at once have one store', async () => {
  using folder = temporaryFolder()
  for (let round = 0; round < 15; round++) {
    const file = join(folder.path, `${round}.sqlite`)
    const opened = await Promise.allSettled(
      Array.from({ length: 6 }, () => openSqliteStore({ file })),
    )
    const stores = opened.filter((one) => one.status === 'fulfilled').map(({ value }) => value)
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
    expect(opened.filter((one) => one.status === 'rejected')).toEqual([])
  }
})
