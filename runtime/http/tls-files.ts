/** A certificate and its key in files, watched so that a server reads them again when they change. */
import { unwatchFile, watchFile } from 'node:fs'
import { WrongUsage } from '../exit.ts'
import { readSettings, type SettingsSource } from '../settings.ts'

export type TlsFiles = Disposable & {
  readonly files: { readonly certFile: string; readonly keyFile: string }
  /** Calls back a few seconds after one of them changed. */
  readonly onChange: (listener: () => void) => void
}

/** Both files change, one after the other: the pair is read when neither has changed for a while. */
const lookEveryMs = 2_000
const settleMs = 1_000

/**
 * AIRPROOF_TLS_CERT_FILE and AIRPROOF_TLS_KEY_FILE; undefined if neither is set.
 * @throws WrongUsage if only one of them is
 */
export function readTlsFiles(source: SettingsSource): TlsFiles['files'] | undefined {
  const settings = readSettings(source)
  const certFile = settings.text('AIRPROOF_TLS_CERT_FILE')
  const keyFile = settings.text('AIRPROOF_TLS_KEY_FILE')
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new WrongUsage('AIRPROOF_TLS_CERT_FILE and AIRPROOF_TLS_KEY_FILE are needed together')
  return { certFile, keyFile }
}

/** The same, watched until it is disposed. @throws WrongUsage */
export function openTlsFiles(source: SettingsSource): TlsFiles | undefined {
  const files = readTlsFiles(source)
  if (files === undefined) return undefined
  const { certFile, keyFile } = files
  const listeners: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      for (const listener of listeners) listener()
    }, settleMs)
  }
  for (const file of [certFile, keyFile])
    watchFile(file, { interval: lookEveryMs, persistent: false }, changed)
  return {
    files,
    onChange: (listener) => void listeners.push(listener),
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      for (const file of [certFile, keyFile]) unwatchFile(file, changed)
    },
  }
}
