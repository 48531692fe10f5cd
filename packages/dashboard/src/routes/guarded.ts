import type { Visitors } from '../visitors.ts'

/** Options of a route of the dashboard itself: it refuses requests without the access that it needs. */
export const guarded = (visitors: Visitors, access: 'read' | 'change') => ({
  config: { access: 'host' as const },
  async onRequest(request: object) {
    const fault = visitors.check(request as never, access)
    if (fault) throw fault
  },
})
