/** What a person sees on the map's canvas, which has no elements to ask. */
import type { Page } from 'playwright-core'

/** The map's middle, in pixels of the window. */
export async function middleOf(page: Page): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.locator('.map').boundingBox()
  return {
    x: (box?.x ?? 0) + (box?.width ?? 0) / 2,
    y: (box?.y ?? 0) + (box?.height ?? 0) / 2,
  }
}

/** Colour of the marks there, `#rrggbb`; '' where there are none. @param from the map's middle */
export async function markAt(page: Page, from: { dx: number; dy: number }): Promise<string> {
  const { x, y } = await middleOf(page)
  const code = `(() => {
    const canvas = document.querySelector('.map .leaflet-marks-pane canvas')
    const { left, top } = canvas.getBoundingClientRect()
    const at = [${x + from.dx} - left, ${y + from.dy} - top].map((one) => Math.round(one * devicePixelRatio))
    const [r, g, b, a] = canvas.getContext('2d').getImageData(...at, 1, 1).data
    return a < 255 ? '' : '#' + [r, g, b].map((one) => one.toString(16).padStart(2, '0')).join('')
  })()`
  return String(await page.evaluate(code))
}

/** Colours of the ground above and below the map's middle, downwards; '' where it has no tile. */
export async function groundColumn(page: Page, reach: number): Promise<readonly string[]> {
  const { x, y } = await middleOf(page)
  const code = `(() => {
    const tiles = [...document.querySelectorAll('.leaflet-ground-pane canvas.leaflet-tile-loaded')]
      .map((tile) => ({ tile, box: tile.getBoundingClientRect() }))
      .filter(({ box }) => box.left <= ${x} && box.right > ${x})
    return Array.from({ length: ${2 * reach} }, (_, at) => ${y - reach} + at).map((y) => {
      const found = tiles.find(({ box }) => box.top <= y && box.bottom > y)
      if (found === undefined) return ''
      const scale = found.tile.width / found.box.width
      const at = [${x} - found.box.left, y - found.box.top].map((one) => Math.floor(one * scale))
      const [r, g, b] = found.tile.getContext('2d').getImageData(...at, 1, 1).data
      return '#' + [r, g, b].map((one) => one.toString(16).padStart(2, '0')).join('')
    })
  })()`
  return await page.evaluate(code)
}

/** Beside the digits of a pill in the map's middle. */
export const inPill = { dx: -11, dy: 0 }

/** What the tip says of the mark in the map's middle; '' while there is none. */
export async function tipInMiddle(page: Page): Promise<string> {
  const { x, y } = await middleOf(page)
  await page.mouse.move(x + 1, y)
  await page.mouse.move(x, y)
  return (await page.locator('.map-tip').allTextContents()).join('')
}

/** Keeps the texts that are written on canvases from now on; to be called before the page opens. */
export async function keepWritten(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.written = new Set()
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      written.add(text)
      return fillText.call(this, text, ...more)
    }
  `)
}

export const writtenOn = async (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...written]')
