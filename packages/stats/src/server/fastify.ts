import type { StatsServer } from './server.ts'

/** Fastify answers everything. */
export function createFastifyServer(): StatsServer {
  return {}
}
