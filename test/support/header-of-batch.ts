import type { BatchHeader } from '../../core/proof/header.ts'

/** The header of a bundle's `batch` of version 2, whose fields have other names there. */
export function headerOfBatch(batch: object): BatchHeader {
  const fields = Object.entries(batch).map(([name, value]) => [
    name.replace(/_[a-z]/g, (found) => found.slice(1).toUpperCase()),
    value,
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...Object.fromEntries(fields), version: 2 } as BatchHeader
}
