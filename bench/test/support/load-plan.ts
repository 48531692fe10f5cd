import type { LoadPlan, LoadRequest } from '../../src/load/load-plan.ts'

export const get = (path: string): LoadRequest => ({ method: 'GET', path })

/** A short plan, long enough for replies on a busy machine. */
export const createPlan = (url: string, more: Partial<LoadPlan> = {}): LoadPlan => ({
  url,
  requests: [get('/a')],
  expect: { status: 200, body: 'value a' },
  connections: 2,
  duration: 1,
  warmUp: 0,
  ...more,
})
