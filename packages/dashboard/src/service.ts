import { defineService } from '@influencer-stats/runtime/service'
import type { DashboardMainMessage, DashboardThreadMessage } from './messages.ts'
import { settings } from './settings.ts'

/** The service that serves the page and forwards its requests to the other services. */
export const dashboard = defineService<typeof settings, DashboardMainMessage, DashboardThreadMessage>({
  name: 'dashboard',
  summary: 'shows campaigns, prices and the health of all services in a browser',
  port: 8000,
  settings,
  example: (url) => `open ${url} in a browser`,
  open: async (context) => (await import('./main.ts')).openDashboard(context),
  loadMain: () => import('./main.ts'),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createDashboardApp(context),
})
