import { formatIso } from '../core/iso-time.ts'
import type { Reading } from '../core/reading.ts'

/** The address of this reading's own proof page, below the API's own address. */
export const proofPath = ({ sensor, timeMs }: Reading): string =>
  `/proof/${encodeURIComponent(sensor)}/${encodeURIComponent(formatIso(timeMs))}`

/** Where people look at the transaction; without an explorer, at our own page about the reading. */
export type LinkToTx = (tx: string, reading: Reading) => string

/**
 * @param explorerUrl an explorer's address, below which `/tx/<hash>` is; undefined: none
 * @param publicUrl the API's own address, from its settings
 */
export const linkToTx =
  (explorerUrl: string | undefined, publicUrl: string): LinkToTx =>
  (tx, reading) =>
    explorerUrl === undefined
      ? `${publicUrl.replace(/\/+$/, '')}${proofPath(reading)}`
      : `${explorerUrl.replace(/\/+$/, '')}/tx/${tx}`
