/**
 * The numbers of a JSON text as they were sent: 45.30 is more than 45.3 to a signature. Slower than
 * `JSON.parse` alone, so these are only for readings that are signed.
 */

type Context = { readonly source?: string }

/** As `JSON.parse`, with each number as its text, `"45.30"`. @throws SyntaxError */
export const numberTexts = (json: string): unknown =>
  JSON.parse(json, (_name, value: unknown, context?: Context) =>
    typeof value === 'number' ? context?.source : value,
  )

/** As `JSON.parse`, but `JSON.stringify` writes the numbers as they were. @throws SyntaxError */
export const numbersAsSent = (json: string): unknown =>
  JSON.parse(json, (_name, value: unknown, context?: Context) =>
    typeof value === 'number' ? rawJSON(context?.source ?? String(value)) : value,
  )

// the types of ES2026 do not have it yet
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => object }
