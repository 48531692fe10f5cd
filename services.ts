import type { ServiceTable } from '@influencer-stats/runtime/service'

/** The one table of services: name -> lazy import of its definition. */
export const services: ServiceTable = {
  stats: async () => (await import('@influencer-stats/stats/service')).stats,
  prices: async () => (await import('@influencer-stats/prices/service')).prices,
  youtube: async () => (await import('@influencer-stats/youtube/service')).youtube,
}
