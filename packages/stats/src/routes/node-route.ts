import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { NodeState } from '../cluster/node-state.ts'

/** Registers the route with the state of this node in its cluster. */
export function registerNodeRoute(app: App, state: () => Promise<NodeState | undefined>): void {
  app.get(
    '/node',
    {
      schema: {
        tags: ['system'],
        operationId: 'getNode',
        summary: 'State of this node: its position in the log, and if it polls YouTube',
        response: {
          200: {
            type: 'object',
            title: 'Node',
            required: ['polling', 'applied', 'lag', 'stalenessSeconds'],
            additionalProperties: false,
            properties: {
              polling: { type: 'boolean', description: 'True if this node polls YouTube.' },
              source: { type: 'string', description: "Origin of the cluster's numbers." },
              sourceMismatch: {
                type: 'object',
                description:
                  'Present if this node has another source than the cluster. Such a node never polls YouTube.',
                required: ['node', 'log'],
                additionalProperties: false,
                properties: {
                  node: { type: 'string', description: 'Source of this node.' },
                  log: { type: 'string', description: 'Source of the cluster.' },
                },
              },
              applied: { type: 'integer', description: 'Sequence of the last entry that this node applied.' },
              lag: {
                type: 'integer',
                description: 'Difference between the last known sequence of the log and `applied`.',
              },
              stalenessSeconds: {
                type: 'number',
                description: 'Time since this node last knew that it had applied every entry (s).',
              },
            },
            examples: [
              { polling: true, source: 'https://www.googleapis.com', applied: 4_711, lag: 0, stalenessSeconds: 0.4 },
            ],
          },
          ...buildReadReplies(),
        },
      },
    },
    async () => (await state())!,
  )
}
