/**
 * The pages' font costs the first answer nothing. The server names it in the page only for a browser
 * that has it (cookie `font`); another loads it at once on a fast line, and on a slow one after
 * everything else, for its next page: what was read so far does not change its looks.
 */
const fastMs = 1_000
const restMs = 3_000
const aYearSeconds = 31_536_000

export function beginFont(): void {
  const root = document.documentElement
  if (root.classList.contains('inter')) return
  const load = async (): Promise<void> => {
    const faces = await document.fonts.load('1em Inter')
    if (faces.length > 0)
      // read by `server/web-files.ts`; a preference and no secret
      document.cookie = `font=inter; Path=/; SameSite=Lax; Max-Age=${aYearSeconds}`
  }
  // a line that brought this script so soon
  if (performance.now() < fastMs)
    load().then(
      () => root.classList.add('inter'),
      () => undefined,
    )
  else addEventListener('load', () => setTimeout(() => void load().catch(() => undefined), restMs))
}
