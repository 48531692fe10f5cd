import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { getSharedLogServers, getStalenessSeconds, readLogState } from '../log-state.ts'
import { logServersSchema } from './log-servers.ts'

const logProperties = {
  applied: { type: 'integer', description: 'Sequence of the last entry that this node applied.' },
  lag: { type: 'integer', description: 'Difference between the last known sequence of the log and `applied`.' },
  stalenessSeconds: {
    type: 'number',
    description: 'Time since this node last knew that it had applied every entry (s).',
  },
  log: logServersSchema,
} as const

const LOG_EXAMPLE = {
  applied: 4_711,
  lag: 0,
  stalenessSeconds: 0.4,
  log: {
    stream: 'kv',
    servers: [
      { name: 'nats-1', role: 'leader', state: 'current', lag: 0, lastContactAt: '2026-11-27T08:00:00.000Z' },
      { name: 'nats-2', role: 'replica', state: 'current', lag: 0, lastContactAt: '2026-11-27T07:59:59.600Z' },
      { name: 'nats-3', role: 'replica', state: 'offline', lag: 120, lastContactAt: '2026-11-27T07:51:12.000Z' },
    ],
    bytes: 48_120_331,
    limit: { scope: 'none' },
    observedAt: '2026-11-27T08:00:00.000Z',
  },
}

/** State of a node that a service adds to that of its log. */
export interface NodeDetails {
  readonly properties: object
  readonly required: readonly string[]
  readonly example: object
  read(): Promise<object>
}

/**
 * Registers the route with the state of this node of a cluster, and of the servers of its log.
 * @param memory memory of the state of the log (`createLogStateMemory`); undefined if the service is standalone
 */
export function registerNodeRoute(app: App, memory: SharedArrayBuffer | undefined, details?: NodeDetails): void {
  const servers = memory && getSharedLogServers(memory)
  app.get(
    '/node',
    {
      schema: {
        tags: ['system'],
        operationId: 'getNode',
        summary: 'State of this node of a cluster, and of the NATS servers of its log',
        response: {
          200: closedObject(
            { ...details?.properties, ...logProperties },
            {
              title: 'Node',
              required: [...(details?.required ?? []), 'applied', 'lag', 'stalenessSeconds'],
              examples: [{ ...details?.example, ...LOG_EXAMPLE }],
            },
          ),
          ...buildReadReplies(commonErrors.NOT_FOUND),
        },
      },
    },
    async () => {
      if (!memory) throw commonErrors.NOT_FOUND('only a node of a cluster (--cluster) has this path')
      const state = readLogState(memory)
      const log = servers!.read()
      return {
        ...(await details?.read()),
        applied: state.applied,
        lag: state.known - state.applied,
        stalenessSeconds: getStalenessSeconds(state),
        ...(log && { log }),
      } as never
    },
  )
}
