import type { ServiceTable } from '@influencer-stats/runtime/service'

/** The one table of services: name -> lazy import of its definition. */
export const services: ServiceTable = {
  dashboard: async () => (await import('@influencer-stats/dashboard/service')).dashboard,
  stats: async () => (await import('@influencer-stats/stats/service')).stats,
  kv: async () => (await import('@influencer-stats/kv/service')).kv,
  sse: async () => (await import('@influencer-stats/sse/service')).sse,
  prices: async () => (await import('@influencer-stats/prices/service')).prices,
  youtube: async () => (await import('@influencer-stats/youtube/service')).youtube,
}
