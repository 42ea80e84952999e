/**
 * The pages' font costs the first answer nothing, and what is read does not move when it arrives: it is loaded after
 * everything else, for the next page. The server names it in a page for a browser that has it (cookie `font`).
 */
const restMs = 3_000
const aYearSeconds = 31_536_000

export function beginFont(): void {
  if (document.documentElement.classList.contains('inter')) return
  const load = async (): Promise<void> => {
    const faces = await document.fonts.load('1em Inter')
    if (faces.length > 0)
      // read by `server/web-files.ts`; a preference and no secret
      document.cookie = `font=inter; Path=/; SameSite=Lax; Max-Age=${aYearSeconds}`
  }
  addEventListener('load', () => setTimeout(() => void load().catch(() => undefined), restMs))
}
