import type { KvServer } from './server.ts'

/** Fastify answers everything. */
export function createFastifyServer(): KvServer {
  return {}
}
