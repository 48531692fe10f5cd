import type { FastifyInstance } from 'fastify'

/** Marks a plugin as one that acts on the app it is registered on, not on a scope of its own. */
export default function shared<Options>(
  plugin: (app: FastifyInstance, options: Options) => Promise<void>,
): typeof plugin {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
