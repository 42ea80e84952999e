import type { Asked } from './ask-series.ts'
import type { Period } from './period.ts'

/** A sensor or an area that is compared with, by its id or slug, or why it cannot be. */
export type Other = {
  readonly id: string
  readonly asked: Asked | undefined
  readonly error?: unknown
}

export type Loaded = {
  readonly own: Asked
  readonly period: Period
  readonly zone: string
  readonly others: readonly Other[]
}

export const otherOf = (id: string, result: PromiseSettledResult<Asked> | undefined): Other =>
  result?.status === 'fulfilled'
    ? { id, asked: result.value }
    : { id, asked: undefined, error: result?.reason }
