/** The paths of the browser's pages: the same as in `dashboard/web/routes.ts`. */
export const views: readonly string[] = [
  '/',
  '/areas/:slug',
  '/sensors/:id',
  '/proof',
  '/proof/:id/:timestamp',
  '/developers',
  '/settings/keys',
  '/settings/usage',
  '/settings/webhooks',
  '/settings/webhooks/:id',
  '/settings/account',
  '/operator',
]
