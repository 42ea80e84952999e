/** Prints what a check measured as one line of JSON; figures are reported, never asserted. */
export function printFigures(check: string, figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify({ check, ...figures })}\n`)
}
