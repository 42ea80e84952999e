import type { Context } from 'koa'

/** After a form: the browser continues with a GET. */
export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303
  ctx.set('location', path)
  ctx.body = ''
}

/** Only our own paths: else a link could send people elsewhere. */
export const safePath = (text: string): string =>
  /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) && !text.includes('\\') ? text : '/'
