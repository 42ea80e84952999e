import type { Reading } from '../../core/air/reading.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'

/** The one link to a reading's proof, to hand on. @param hash its leaf */
export type ProofLink = (reading: Reading, hash: string) => string

/** @param publicUrl the API's own address, from its settings */
export const proofLinkBelow =
  (publicUrl: string): ProofLink =>
  (reading, hash) =>
    proofUrl(publicUrl, reading, hash)

/** Where people look at the transaction; without an explorer, at our own page about the reading. */
export type LinkToTx = (tx: string, reading: Reading, hash: string) => string

/**
 * @param explorerUrl an explorer's address, below which `/tx/<hash>` is; undefined: none
 */
export const linkToTx =
  (explorerUrl: string | undefined, proofLink: ProofLink): LinkToTx =>
  (tx, reading, hash) =>
    explorerUrl === undefined
      ? proofLink(reading, hash)
      : `${explorerUrl.replace(/\/+$/, '')}/tx/${tx}`
