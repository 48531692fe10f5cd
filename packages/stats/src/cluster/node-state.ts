import type { NodeDetails } from '@influencer-stats/log/node-route'
import { closedObject } from '@influencer-stats/runtime/closed-object'

/** State of a node in its cluster, in addition to that of its log. */
export interface NodeState {
  /** True if this node polls YouTube. */
  readonly polling: boolean
  /** Origin of the cluster's numbers. Absent until a node has recorded it. */
  readonly source?: string
  /** Present if this node has another source than the cluster. */
  readonly sourceMismatch?: { readonly node: string; readonly log: string }
}

/** Describes the state of a node for `GET /node`. @param read returns the state, on a node of a cluster */
export const describeNode = (read: () => Promise<NodeState | undefined>): NodeDetails => ({
  properties: {
    polling: { type: 'boolean', description: 'True if this node polls YouTube.' },
    source: { type: 'string', description: "Origin of the cluster's numbers. Absent until a node has recorded it." },
    sourceMismatch: closedObject(
      {
        node: { type: 'string', description: 'Source of this node.' },
        log: { type: 'string', description: 'Source of the cluster.' },
      },
      {
        description: 'Present if this node has another source than the cluster. Such a node never polls YouTube.',
        required: ['node', 'log'],
      },
    ),
  },
  required: ['polling'],
  example: { polling: true, source: 'https://www.googleapis.com' },
  read: async () => (await read())!,
})
