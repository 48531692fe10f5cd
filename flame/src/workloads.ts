import type { Row } from '@influencer-stats/bench/row'
import type { Surroundings } from '@influencer-stats/bench/scenarios/scenario'
import type { Spec } from '@influencer-stats/bench/spec'

type RowOf = (spec: Spec, surroundings: Surroundings) => Row

/** What a service is asked while it is profiled: the row of its benchmark, prepared and proved as there. */
export const workloads: Readonly<Record<string, () => Promise<RowOf>>> = {
  stats: async () => (await import('@influencer-stats/bench/scenarios/stats')).readRow,
}
