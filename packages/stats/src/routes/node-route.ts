import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { NodeState } from '../node-state.ts'

/** Registers the route with the state of this node in its cluster. */
export function registerNodeRoute(app: App, state: () => Promise<NodeState | undefined>): void {
  app.get(
    '/node',
    {
      schema: {
        tags: ['house'],
        operationId: 'getNode',
        summary: 'How far this node is in the log, and whether it is the one that asks YouTube',
        response: {
          200: {
            type: 'object',
            title: 'Node',
            required: ['polling', 'applied', 'lag', 'silence'],
            additionalProperties: false,
            properties: {
              polling: { type: 'boolean', description: 'Whether it is the one that asks YouTube.' },
              source: { type: 'string', description: 'Where the numbers of all nodes come from.' },
              sourceMismatch: {
                type: 'object',
                description: 'There if the source of this node is another: it never asks YouTube.',
                required: ['node', 'log'],
                additionalProperties: false,
                properties: { node: { type: 'string' }, log: { type: 'string' } },
              },
              applied: { type: 'integer', description: 'The place in the log up to which it has applied it.' },
              lag: { type: 'integer', description: 'Places that are known to exist and are not applied yet.' },
              silence: { type: 'number', description: 'For how long nothing was heard of the log (s).' },
            },
            examples: [{ polling: true, source: 'https://www.googleapis.com', applied: 4_711, lag: 0, silence: 0.4 }],
          },
          ...buildReadReplies(),
        },
      },
    },
    async () => (await state())!,
  )
}
