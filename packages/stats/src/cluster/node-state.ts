import { closedObject } from '@influencer-stats/runtime/closed-object'
import type { FromSchema } from 'json-schema-to-ts'

export const nodeStateSchema = closedObject(
  {
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
    applied: { type: 'integer', description: 'Sequence of the last entry that this node applied.' },
    lag: { type: 'integer', description: 'Difference between the last known sequence of the log and `applied`.' },
    stalenessSeconds: {
      type: 'number',
      description: 'Time since this node last knew that it had applied every entry (s).',
    },
  },
  {
    title: 'Node',
    required: ['polling', 'applied', 'lag', 'stalenessSeconds'],
    examples: [{ polling: true, source: 'https://www.googleapis.com', applied: 4_711, lag: 0, stalenessSeconds: 0.4 }],
  },
)

/** State of a node in its cluster. */
export type NodeState = FromSchema<typeof nodeStateSchema>
