import type { Auth } from '../auth.ts'

/** Options of a route of the dashboard itself: it refuses requests without the access that it needs. */
export const guardRoute = (auth: Auth, access: 'read' | 'change') => ({
  config: { access: 'host' as const },
  async onRequest(request: object) {
    const fault = auth.check(request as never, access)
    if (fault) throw fault
  },
})
