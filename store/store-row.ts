import type { DeviceSignature } from '../core/air/device-signature.ts'
import type { Reading } from '../core/air/reading.ts'

/** A reading as it is written: with its signature, where its device signed it. */
export type StoreRow = Reading & { readonly signed?: DeviceSignature }

/** A row the engine will never take, with its reason; the other rows of the call are written. */
export type RefusedRow = { readonly row: StoreRow; readonly why: string }
