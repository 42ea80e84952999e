import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const [rounds, openers] = inject('soak') ? [15, 6] : [5, 4]

test('many that make a new file at once have one store', async () => {
  using folder = temporaryFolder()
  for (let round = 0; round < rounds; round++) {
    const file = join(folder.path, `${round}.sqlite`)
    const opened = await Promise.allSettled(
      Array.from({ length: openers }, () => openSqliteStore({ file })),
    )
    const stores = opened.filter((one) => one.status === 'fulfilled').map(({ value }) => value)
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
    expect(opened.filter((one) => one.status === 'rejected')).toEqual([])
  }
})
