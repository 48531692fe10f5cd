import { kvSource } from './kv.ts'
import { pricesSource } from './prices.ts'
import type { Source } from './source-figures.ts'
import { sseSource } from './sse.ts'
import { statsSource } from './stats.ts'

/** All sources, in the order of the report. */
export const sources: readonly Source[] = [statsSource, kvSource, sseSource, pricesSource]
