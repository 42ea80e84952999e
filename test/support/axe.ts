/** One state of a page, looked at in each colour scheme and width. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { overflowOf } from './city-browser.ts'

const require = createRequire(import.meta.url)
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

const schemes = ['light', 'dark'] as const
/** A phone, and a desk. */
const widths = [390, 1440] as const
/** Nothing may be wider: a small phone, or a large one at a zoom of 400 %. */
const narrowest = 320

/**
 * The rules whose outcome depends on colours. A scheme changes nothing else (`test/unit/tokens.test.ts`),
 * so the other rules, most of axe's work, run in the first scheme only.
 */
const colorRules = ['color-contrast', 'link-in-text-block']

/** What axe finds on the page as it is: the rule, and where. @param rules all, if undefined */
async function axeFindings(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // by the protocol, not by a script of the page, whose policy would refuse it
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource)
  return await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (options: object) => Promise<{
          violations: { id: string; nodes: { target: string[] }[] }[]
        }>
      }
    }
    // of rules that pass, which are most, it need not say where
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(runOnly !== undefined && { runOnly }),
    })
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    )
  }, rules)
}

/** Charts follow the window a frame later. */
async function overflowAtRest(page: Page): Promise<number> {
  let overflow = await overflowOf(page)
  for (let look = 0; overflow > 0 && look < 20; look++) {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))')
    overflow = await overflowOf(page)
  }
  return overflow
}

/** What is wrong, each with its cell, and how many cells were looked at. */
export type Seen = { readonly faults: readonly string[]; readonly cells: number }

export async function lookEverywhere(page: Page): Promise<Seen> {
  const faults: string[] = []
  let cells = 0
  for (const width of widths)
    for (const scheme of schemes) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      // what follows the window's size and scheme has been drawn again
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
      const found = [
        ...(await axeFindings(page, scheme === schemes[0] ? undefined : colorRules)),
        ...(await fitFaults(page)),
      ]
      faults.push(...found.map((fault) => `${scheme}, ${width} px: ${fault}`))
      cells++
    }
  const narrow = await lookNarrow(page)
  return { faults: [...faults, ...narrow.faults], cells: cells + narrow.cells }
}

export async function lookNarrow(page: Page): Promise<Seen> {
  await page.setViewportSize({ width: narrowest, height: 800 })
  const faults = await fitFaults(page)
  return { faults: faults.map((fault) => `${narrowest} px: ${fault}`), cells: 1 }
}

async function fitFaults(page: Page): Promise<readonly string[]> {
  const overflow = await overflowAtRest(page)
  // a tab that must be scrolled to is not found
  const cutTabs = Number(await page.evaluate(countCutTabs))
  return [
    ...(overflow > 0 ? [`${overflow} px too wide`] : []),
    ...(cutTabs > 0 ? ['tabs are cut off'] : []),
  ]
}

const countCutTabs =
  '[...document.querySelectorAll("nav")].filter((nav) => nav.scrollWidth > nav.clientWidth).length'
