import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { nodeStateSchema, type NodeState } from '../cluster/node-state.ts'

/** Registers the route with the state of this node in its cluster. */
export function registerNodeRoute(app: App, state: () => Promise<NodeState | undefined>): void {
  app.get(
    '/node',
    {
      schema: {
        tags: ['system'],
        operationId: 'getNode',
        summary: 'State of this node: its position in the log, and if it polls YouTube',
        response: { 200: nodeStateSchema, ...buildReadReplies() },
      },
    },
    async () => (await state())!,
  )
}
