import { DEFAULT_DIALECT, type Dialect } from '../load/fleet/fleet-plan.ts'
import { nchan } from './nginx.ts'
import { centrifuge } from './peers.ts'
import type { BenchTarget } from './target.ts'

const NCHAN_DIALECT: Dialect = {
  ...DEFAULT_DIALECT,
  put: { method: 'POST', path: '/put', body: '{value}' },
  closeAll: { method: 'DELETE', path: '/put' },
  echoes: false,
}

const CENTRIFUGE_DIALECT: Dialect = {
  ...DEFAULT_DIALECT,
  wait: { method: 'GET', path: `/wait?cf_connect=${encodeURIComponent('{"id":1,"connect":{}}')}` },
  echoes: false,
  around: ['{"push":{"channel":"all","pub":{"data":"', '"}}}'],
  greets: true,
}

/** Programs that are not for Node, with their dialects. */
export const broadcastPrograms: readonly (readonly [target: BenchTarget, dialect: Dialect])[] = [
  [nchan, NCHAN_DIALECT],
  [centrifuge, CENTRIFUGE_DIALECT],
]
