import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { type StorePlace, storeContract } from './store-contract.ts'

async function newFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'airproof-store-'))
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true }) }
}

async function newPlace(): Promise<StorePlace> {
  const folder = await newFolder()
  return {
    open: async () => openSqliteStore({ file: join(folder.path, 'readings.db') }),
    [Symbol.asyncDispose]: async () => folder[Symbol.asyncDispose](),
  }
}

storeContract('the SQLite store', newPlace)
