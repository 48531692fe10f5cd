import type { AppHost } from '@influencer-stats/runtime/service'

/** Where lines for those who run a service go. */
export type Logger = Pick<AppHost['log'], 'info' | 'warn' | 'error'>
