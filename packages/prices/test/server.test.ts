import { SERVERS } from '@influencer-stats/runtime/settings'
import { serverConformance } from './server.conformance.ts'

for (const name of SERVERS) serverConformance(name)
