import { onDemand } from '../on-demand.ts'
import type { ScreenFile } from './screen-files.ts'

/** The screens by the file of their module, which is loaded when its screen is opened. */
export const SCREENS = {
  'screens/home/home.ts': onDemand(async () => (await import('./home/home.ts')).Home),
  'screens/campaign.ts': onDemand(async () => (await import('./campaign.ts')).Campaign),
  'screens/creators/creators.ts': onDemand(async () => (await import('./creators/creators.ts')).Creators),
  'screens/creators/creator.ts': onDemand(async () => (await import('./creators/creator.ts')).CreatorScreen),
  'screens/compare.ts': onDemand(async () => (await import('./compare.ts')).Compare),
  'screens/client-links.ts': onDemand(async () => (await import('./client-links.ts')).ClientLinks),
  'screens/prices.ts': onDemand(async () => (await import('./prices.ts')).Prices),
  'screens/health.ts': onDemand(async () => (await import('./health.ts')).Health),
  'screens/trash.ts': onDemand(async () => (await import('./trash.ts')).Trash),
} satisfies Record<ScreenFile, unknown>
