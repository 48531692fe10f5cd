import type { PricesServer } from './server.ts'

/** Fastify answers everything. */
export function createFastifyServer(): PricesServer {
  return {}
}
