import type { FastifyInstance } from 'fastify'

/** Marks a Fastify plugin, so that its routes and hooks apply to the whole app instead of a new scope. */
export default function shared<Options>(
  plugin: (app: FastifyInstance, options: Options) => Promise<void>,
): typeof plugin {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
