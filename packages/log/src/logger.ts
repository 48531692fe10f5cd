import type { AppHost } from '@influencer-stats/runtime/service'

/** Logger for the operators of a service. */
export type Logger = Pick<AppHost['log'], 'info' | 'warn' | 'error'>
