import type { Reading } from '../../core/air/reading.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'

/** The same as a whole address, to hand on. */
export type ProofLink = (reading: Reading) => string

/** @param publicUrl the API's own address, from its settings */
export const proofLinkBelow =
  (publicUrl: string): ProofLink =>
  (reading) =>
    proofUrl(publicUrl, reading)

/** Where people look at the transaction; without an explorer, at our own page about the reading. */
export type LinkToTx = (tx: string, reading: Reading) => string

/**
 * @param explorerUrl an explorer's address, below which `/tx/<hash>` is; undefined: none
 */
export const linkToTx =
  (explorerUrl: string | undefined, proofLink: ProofLink): LinkToTx =>
  (tx, reading) =>
    explorerUrl === undefined ? proofLink(reading) : `${explorerUrl.replace(/\/+$/, '')}/tx/${tx}`
