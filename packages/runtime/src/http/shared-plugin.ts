import type { FastifyInstance } from 'fastify'

/** Marks a plugin that acts on the app itself, not on a new scope. */
export default function shared<Options>(
  plugin: (app: FastifyInstance, options: Options) => Promise<void>,
): typeof plugin {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
