/** The paths of the browser's pages: the same as in `dashboard/web/routes.ts`. */
export const views: readonly string[] = [
  '/',
  '/sensors/:id',
  '/proof',
  '/proof/:id/:timestamp',
  '/settings/keys',
  '/settings/usage',
  '/settings/webhooks',
  '/settings/webhooks/:id',
  '/settings/account',
  '/operator',
]
